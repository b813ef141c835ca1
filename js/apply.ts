/** Carries patches out on the host's values: what is not patched stays the very same object. */

/** See `src/wire/patch.rs`. */
export type Patch = [path: (string | number)[], change: "remove" | Pooled | { set: Value } | { insert: Value }];

/** Characters of the texts that come along. */
type Pooled = [from: number, to: number];

type Value =
  | "original"
  | { text: string }
  | { pooled: Pooled }
  | { json: unknown }
  | { list: Value[] }
  | { record: [string, Value][] }
  | { appended: Value };

type Container = Record<string | number, unknown>;

/** Whether a patch begins at the request, and not at its messages. */
export function isOfRequest([path]: Patch): boolean {
  return typeof path[0] === "string";
}

/** A new array or object with the patches in it; the one given, and all that it holds, is left as it is. */
export function applyPatches<T extends object>(root: T, patches: readonly Patch[], texts: string): T {
  const result = copyOf(root) as T;
  const own = new Set<unknown>();
  const built = (value: Value, original: unknown) => build(value, original, texts, own);
  let copied: string | number = -1; // patches of one message follow each other
  for (const [path, change] of patches) {
    let parent = result as unknown as Container;
    for (let step = 0; step < path.length - 1; step++) {
      const key = path[step]!;
      const isOwn = step === 0 ? key === copied : own.has(parent[key]);
      if (!isOwn) {
        const copy = copyOf(parent[key] as object);
        parent[key] = copy;
        if (step === 0) copied = key;
        else own.add(copy);
      }
      parent = parent[key] as Container;
    }
    const last = path[path.length - 1]!;
    if (change === "remove" && Array.isArray(parent)) parent.splice(last as number, 1);
    else if (change === "remove") delete parent[last];
    else if (Array.isArray(change)) define(parent, last, texts.slice(change[0], change[1]));
    else if ("set" in change) define(parent, last, built(change.set, parent[last]));
    else (result as unknown[]).splice(last as number, 0, built(change.insert, undefined));
  }
  return result;
}

/** A shallow copy. */
export function copyOf(value: object): object {
  if (Array.isArray(value)) return value.slice();
  const clone = { ...value };
  return Object.getPrototypeOf(value) === null ? Object.setPrototypeOf(clone, null) : clone;
}

/** Assigns without waking a setter that a prototype may have. */
function define(parent: Container, key: string | number, value: unknown): void {
  if (Object.hasOwn(parent, key)) parent[key] = value; // a copy of ours has no setters of its own
  else Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}

function build(value: Value, original: unknown, texts: string, own: Set<unknown>): unknown {
  if (value === "original") return original;
  if ("text" in value) return value.text;
  if ("pooled" in value) return texts.slice(...value.pooled);
  if ("json" in value) return value.json;
  const built = (item: Value) => build(item, original, texts, own);
  let made: unknown;
  if ("list" in value) made = value.list.map(built);
  else if ("record" in value) made = Object.fromEntries(value.record.map(([key, item]) => [key, built(item)]));
  else made = [...(Array.isArray(original) ? original : []), built(value.appended)];
  own.add(made);
  return made;
}
