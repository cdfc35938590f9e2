/** Something that can be inserted into JSON. What stands between ‹ and › is selected afterwards, to be replaced. */
export interface JsonPart {
  /** As a member of an object; absent for a part that is only a value. */
  readonly key?: string;
  readonly value: string;
  /** What is inserted as a value instead of an object with key and value. */
  readonly asValue?: string;
}

/** The bracket that is open at the end of a text. */
const openBracket = (text: string): string | undefined => {
  const open: string[] = [];
  for (const bracket of text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[[\]{}]/g) ?? []) {
    if (bracket === '{' || bracket === '[') open.push(bracket);
    else open.pop();
  }
  return open.at(-1);
};

/** The text of a part between two texts, with the commas that it needs, and which of it to select. */
export const insertionOf = ({ key, value, asValue }: JsonPart, before: string, after: string) => {
  const [previous = '', next = ''] = [before.trimEnd().at(-1), after.trimStart().charAt(0)];
  const isMember = key !== undefined && previous !== ':' && openBracket(before) !== '[';
  const member = key === undefined ? value : `${JSON.stringify(key)}: ${value}`;
  const text = isMember || key === undefined ? member : (asValue ?? `{ ${member} }`);
  const comma = /^[\]}"\w]$/.test(previous) ? ', ' : '';
  const marked = comma + text + (/^["{[\w]$/.test(next) ? ', ' : '');
  const plain = marked.replace(/[‹›]/g, '');
  const from = marked.indexOf('‹');
  const end = comma.length + text.length;
  return from < 0 ? { text: plain, from: end, to: end } : { text: plain, from, to: marked.indexOf('›') - 1 };
};
