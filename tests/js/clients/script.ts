/** What the model does in every conversation: it reads files, two at once now and then, some again, and looks at a picture. */

export interface Call {
  id: string;
  name: "read_file" | "write_file" | "screenshot";
  input: { path: string };
}

const call = (id: string, name: Call["name"], path: string): Call => ({ id: `call_${id}`, name, input: { path } });

export const STEPS: readonly (readonly Call[])[] = Array.from({ length: 30 }, (_, at) => {
  if (at === 3) return [call("3", "screenshot", "page"), call("3b", "read_file", "page.css")];
  if (at === 8) return [call("8", "write_file", "part_1.ts")];
  const read = call(`${at}`, "read_file", `part_${at % 7}.ts`);
  return at % 3 === 1 ? [read, call(`${at}b`, "read_file", `test_${at}.ts`)] : [read];
});

/** The last request is answered with a text. */
export const REQUESTS = STEPS.length + 1;
export const RULES = "You read files. Be brief.";
export const QUESTION = "What do the parts compute, and does the page look like this?";
export const CONCLUSION = "They all compute, and it does.";

/** A picture of one pixel. */
export const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const TOOLS = [
  { name: "read_file", description: "Reads a file" },
  { name: "write_file", description: "Writes a file" },
  { name: "screenshot", description: "Takes a picture of a page" },
] as const;
export const SCHEMA = { type: "object" as const, properties: { path: { type: "string" as const } }, required: ["path"] };

/** Long, of lines of their own, with what JSON has to escape. */
export function resultOf({ id, name, input: { path } }: Call): string {
  if (name === "write_file") return "written";
  return Array.from({ length: 150 }, (_, line) => `${path}:${line}\tconst value_${line} = compute("${id}", ${line}); // é 🦀`).join("\n");
}
