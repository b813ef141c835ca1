/**
 * What a value was when it was written onto the tape, so that it can be told later whether it is the same: hosts change messages in
 * place. Strings that nobody has touched are compared by where they stand, so this takes no longer for long ones.
 */

/** A shadow: the value itself where it cannot change, or one of these. */
export type Shadow = Fields | Items | Opaque | string | number | boolean | bigint | symbol | Function | null | undefined;

/** Of an object. */
export class Fields {
  constructor(readonly prototype: object | null, readonly keys: string[], readonly values: Shadow[]) {}
}

/** Of an array. */
export class Items {
  constructor(readonly values: Shadow[]) {}
}

/** Of what JSON cannot hold, of which only the identity and the size count. */
export class Opaque {
  constructor(readonly value: object, readonly bytes: unknown) {}
}

/** Whether a value is what it was. Getters run once each. */
export function isSame(value: unknown, shadow: Shadow): boolean {
  if (value === shadow) return true; // 0 and -0 are one number in JSON
  if (typeof shadow !== "object" || shadow === null) return Object.is(value, shadow);
  if (typeof value !== "object" || value === null) return false;
  if (shadow instanceof Fields) return !Array.isArray(value) && hasFields(value as Record<string, unknown>, shadow);
  if (shadow instanceof Items) return Array.isArray(value) && hasItems(value, shadow.values);
  return value === shadow.value && (value as { byteLength?: unknown }).byteLength === shadow.bytes;
}

function hasFields(value: Record<string, unknown>, { prototype, keys, values }: Fields): boolean {
  if (Object.getPrototypeOf(value) !== prototype) return false;
  let count = 0;
  for (const key in value) {
    if (key !== keys[count]) return false;
    const [field, shadow] = [value[key], values[count]];
    if (field !== shadow && !isSame(field, shadow)) return false;
    count++;
  }
  return count === keys.length;
}

function hasItems(value: unknown[], values: Shadow[]): boolean {
  if (value.length !== values.length) return false;
  for (let index = 0; index < values.length; index++) {
    const [item, shadow] = [value[index], values[index]];
    if (item !== shadow && !isSame(item, shadow)) return false;
  }
  return true;
}

/** The shadow of plain data. */
export function shadowOf(value: unknown): Shadow {
  if (typeof value !== "object" || value === null) return value as Shadow;
  if (Array.isArray(value)) return new Items(value.map(shadowOf));
  return new Fields(Object.getPrototypeOf(value), Object.keys(value), Object.values(value).map(shadowOf));
}

/** Plain data anew. */
export function valueOf(shadow: Shadow): unknown {
  if (shadow instanceof Items) return shadow.values.map(valueOf);
  if (!(shadow instanceof Fields)) return shadow;
  const value: Record<string, unknown> = {};
  shadow.keys.forEach((key, at) => (value[key] = valueOf(shadow.values[at])));
  return value;
}
