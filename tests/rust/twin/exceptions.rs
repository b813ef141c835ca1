//! What a wire cannot do, or need not. An exception is run, and must fail.

/// Wire, test, and a reason that its users would accept.
pub const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("openai_responses", "cases::protection::reasoning_goes_whole", RESPONSES_KEEP_REASONING),
    ("openai_responses", "cases::protection::reasoning_that_a_router_passes_on_from_anthropic_stays_in_its_loop", RESPONSES_KEEP_REASONING),
    ("openai_responses", "laws::occurs::reasoning_goes", RESPONSES_KEEP_REASONING),
    ("anthropic", "cases::protection::reasoning_beside_a_tool_call_stays", ANTHROPIC_DROPS_REASONING),
    ("anthropic", "cases::protection::reasoning_content_stays_whatever_stands_beside_it", ANTHROPIC_DROPS_REASONING),
    ("gemini", "cases::pays::marks_make_a_fold_dearer", "the provider finds prefixes by itself, and takes no marks"),
    ("gemini", "cases::protection::reasoning_beside_a_tool_call_stays", GEMINI_SIGNS_CALLS),
    ("gemini", "cases::protection::reasoning_content_stays_whatever_stands_beside_it", GEMINI_SIGNS_CALLS),
    ("gemini", "cases::protection::reasoning_of_an_open_loop_stays", GEMINI_SIGNS_CALLS),
    ("gemini", "cases::protection::reasoning_that_a_router_passes_on_from_anthropic_stays_in_its_loop", GEMINI_SIGNS_CALLS),
    ("ai_sdk", "cases::budget::unknown_fields_count", "the AI SDK sends its providers no field that it does not know"),
];

const RESPONSES_KEEP_REASONING: &str = "the provider refuses calls and messages whose reasoning is missing, so none is ever dropped";
const GEMINI_SIGNS_CALLS: &str = "the provider needs the signatures back, which stand on the calls and stay; summaries of thoughts are for people";
const ANTHROPIC_DROPS_REASONING: &str = "the provider needs thinking back until the user speaks again, and ignores it from then on";

/// Why a test need not hold on a wire.
pub fn reason(wire: &str, test: &str) -> Option<&'static str> {
    EXCEPTIONS.iter().find(|(of, name, _)| *of == wire && *name == test).map(|(_, _, reason)| *reason)
}
