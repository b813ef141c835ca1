//! The tools of the agents that people use, by name. A name means the same in all of them; case is as the agent spells it.

use super::super::names::Names;
use super::ToolKind::{self, Fetch, List, Memory, Other, Read, Run, Search, Verify, Write};

/// How a tool tells what a call of it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum Tool {
    /// By its name.
    Is(ToolKind),
    /// By the command line in its arguments.
    Shell,
    /// By its `command`: `view` or a change.
    Editor,
    /// By the patch in its arguments.
    Patch,
    /// By its `action`.
    Screen,
}

impl Tool {
    /// What it does where the arguments do not tell.
    pub(in crate::history) fn kind(self) -> ToolKind {
        match self {
            Tool::Is(kind) => kind,
            Tool::Shell | Tool::Screen => Run,
            Tool::Editor | Tool::Patch => Write,
        }
    }
}

const TOOLS: &[(Tool, &str)] = &[
    (
        Tool::Shell,
        "Bash bash Shell shell shell_command local_shell container.exec exec_command unified_exec execute_command execute_bash run_shell_command run_terminal_cmd run_terminal_command run_in_terminal run_command run_commands terminal execute_shell_command execute bash_code_execution cmd powershell",
    ),
    (
        Tool::Editor,
        "str_replace_editor str_replace_based_edit_tool str_replace_based_edit editor text_editor text_editor_code_execution edit_anthropic",
    ),
    (Tool::Patch, "apply_patch ApplyPatch patch apply_diff"),
    (Tool::Screen, "browser_action computer computer_use browser"),
    // What runs, shows new output on each call, and cannot be had again.
    (
        Tool::Is(Run),
        "BashOutput write_stdin python python_repl Python_REPL execute_ipython_cell execute_ipython ipython code_execution code_interpreter js_repl javascript_tool browser_evaluate browser_run_code puppeteer_evaluate get_terminal_output command_status requests_post requests_put requests_patch requests_delete sql_db_query run_task run_slash_command send_command_to_process",
    ),
    (
        Tool::Is(Read),
        "Read read read_file read_files ReadFile NotebookRead ReadMcpResourceTool read_many_files read_text_file read_media_file read_multiple_files get_file_contents view view_file view_image view_code_item fs_read open open_file goto scroll_up scroll_down access_mcp_resource fetch_instructions get_symbols_overview read_page get_page_text git_diff git_diff_staged git_diff_unstaged git_show get_changed_files load_mcp_documentation",
    ),
    (
        Tool::Is(Search),
        "Grep grep grep_search grep_files search_files search_file_content codebase_search codesearch semantic_search file_search search_dir search_file find_file find_by_name WebSearch web_search websearch google_web_search SearchWeb ToolSearch sourcegraph search_for_pattern find_symbol find_referencing_symbols list_code_usages lsp LSP duckduckgo_search duckduckgo_results_json tavily_search tavily_search_results_json wikipedia arxiv resolve-library-id search_tool_bm25 brave_web_search",
    ),
    (
        Tool::Is(List),
        "LS ls Glob glob list list_dir list_files list_directory list_directory_with_sizes directory_tree find find_path list_code_definition_names ListMcpResourcesTool ListMcpResources get_file_info list_allowed_directories git_status git_log git_branch sql_db_schema sql_db_list_tables tabs_context_mcp diff_history",
    ),
    (
        Tool::Is(Fetch),
        "WebFetch web_fetch webfetch fetch fetch_webpage FetchURL url_fetch requests_get get-library-docs query-docs web_browser_go browser_navigate browser_navigate_back browser_snapshot browser_take_screenshot browser_console_messages browser_network_requests browser_get_content browser_get_state puppeteer_navigate puppeteer_screenshot navigate take_screenshot take_snapshot new_page navigate_page",
    ),
    (
        Tool::Is(Write),
        "Write write write_file WriteFile write_to_file Edit edit edit_file MultiEdit multiedit multi_edit NotebookEdit StrReplaceFile replace replace_in_file search_and_replace search_replace insert_content insert_edit_into_file replace_string_in_file multi_replace_string_in_file replace_file_content create insert create_file create_directory delete_file move_file copy_file file_delete fs_write push_files create_or_update_file KillShell KillBash replace_symbol_body insert_after_symbol insert_before_symbol git_add git_commit git_reset git_checkout git_create_branch form_input generate_image",
    ),
    (Tool::Is(Verify), "read_lints get_errors diagnostics lsp_diagnostics runTests run_tests mcp__ide__getDiagnostics getDiagnostics"),
    (
        Tool::Is(Memory),
        "TodoWrite TodoRead todowrite todoread todo_write write_todos manage_todo_list update_todo_list SetTodoList task_tracker update_plan ExitPlanMode EnterPlanMode exit_plan_mode plan_mode_respond AskUserQuestion ask_followup_question ask_user request_user_input question Skill skill activate_skill SlashCommand memory save_memory think Think thinking sequentialthinking create_entities create_relations add_observations delete_entities delete_observations delete_relations read_graph search_nodes open_nodes TaskCreate TaskUpdate TaskList TaskGet get_task get_tasks next_task set_task_status add_task add_subtask update_subtask expand_task fetch_rules read_memory write_memory",
    ),
    // An agent's answer is neither shown anew by the same call nor changed by it; nor is the end of a task.
    (
        Tool::Is(Other),
        "Task task Agent TaskOutput AgentOutputTool subagent runSubagent spawn_agent wait_agent delegate_to_agent codebase_investigator new_task switch_mode attempt_completion finish complete_task use_mcp_tool browser_wait_for browser_close browser_resize browser_tabs now",
    ),
];

/// Of an MCP name (`mcp__server__tool`) the tool's own part counts.
pub(in crate::history) fn find(name: &str) -> Option<Tool> {
    static NAMES: Names = Names::new();
    let exact = |name: &str| NAMES.find(&mut TOOLS.iter().map(|(_, names)| *names), name).map(|at| TOOLS[at].0);
    exact(name).or_else(|| exact(name.rsplit_once("__")?.1)).or_else(|| exact(name.strip_prefix("functions.")?))
}
