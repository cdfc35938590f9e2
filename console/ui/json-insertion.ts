/** Something that can be inserted into JSON. What stands between ‹ and › is selected afterwards, to be replaced. */
export interface JsonPart {
  /** As a member of an object; absent for a part that is only a value. */
  readonly key?: string;
  readonly value: string;
  /** What is inserted after a colon instead of key and value. */
  readonly asValue?: string;
}

/** The text of a part between two texts, with the commas that it needs, and which of it to select. */
export const insertionOf = ({ key, value, asValue }: JsonPart, before: string, after: string) => {
  const [previous = '', next = ''] = [before.trimEnd().at(-1), after.trimStart().charAt(0)];
  const isValue = previous === ':' || previous === '[' || key === undefined;
  const member = key === undefined ? value : `${JSON.stringify(key)}: ${value}`;
  const text = isValue && key !== undefined ? (asValue ?? `{ ${member} }`) : member;
  const comma = isValue && previous === ':' ? '' : /^[\]}"\w]$/.test(previous) ? ', ' : '';
  const full = comma + text + (/^["{[\w]$/.test(next) ? ', ' : '');
  const from = full.indexOf('‹');
  const plain = full.replace(/[‹›]/g, '');
  if (from < 0) return { text: plain, from: comma.length + text.length, to: comma.length + text.length };
  return { text: plain, from, to: full.indexOf('›') - 1 };
};
