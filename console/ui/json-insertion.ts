/** A part to insert into JSON. The text between ‹ and › is selected afterwards. */
export interface JsonPart {
  /** The key of a member; absent for a value. */
  readonly key?: string;
  readonly value: string;
  /** The value to insert where a value is expected instead of a member. */
  readonly asValue?: string;
}

/** The bracket that is still open at the end of a text. */
const openBracket = (text: string): string | undefined => {
  const open: string[] = [];
  for (const bracket of text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/[[\]{}]/g) ?? []) {
    if (bracket === '{' || bracket === '[') open.push(bracket);
    else open.pop();
  }
  return open.at(-1);
};

/** The text of a part with the commas that it needs, and the range to select. */
export const insertionOf = ({ key, value, asValue }: JsonPart, before: string, after: string) => {
  const [previous = '', next = ''] = [before.trimEnd().at(-1), after.trimStart().charAt(0)];
  const isMember = key !== undefined && previous !== ':' && openBracket(before) !== '[';
  const member = key === undefined ? value : `${JSON.stringify(key)}: ${value}`;
  const isAlone = previous === '' && next === '';
  const inObject = `{ ${member} }`;
  const text = key === undefined ? member : isAlone ? inObject : isMember ? member : (asValue ?? inObject);
  const comma = /^[\]}"\w]$/.test(previous) ? ', ' : '';
  const marked = comma + text + (/^["{[\w]$/.test(next) ? ', ' : '');
  const plain = marked.replace(/[‹›]/g, '');
  const from = marked.indexOf('‹');
  const end = comma.length + text.length;
  return from < 0 ? { text: plain, from: end, to: end } : { text: plain, from, to: marked.indexOf('›') - 1 };
};
