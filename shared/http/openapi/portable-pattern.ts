/** Classes that engines read differently or not at all → what JavaScript means by them. */
const classes: Readonly<Record<string, string>> = {
  '\\p{Cc}': '\\u0000-\\u001f\\u007f-\\u009f',
  '\\w': 'A-Za-z0-9_',
  '\\d': '0-9',
};

const anyClass = /\\(?:[pP]\{[^}]+\}|[wWdDsSbB])/g;

/**
 * A pattern of ours as every validator of JSON schemas reads it: Python's know no `\p{…}`, and take `\w` and `\d` for
 * letters and digits of all scripts. Throws for a class that is not on the list: put it there.
 */
export const portablePattern = (source: string): string =>
  source.replace(anyClass, (name, at: number) => {
    const members = classes[name];
    if (members === undefined) throw new Error(`portable-pattern.ts does not say what ${name} is`);
    const before = source.slice(0, at);
    const isInside = before.lastIndexOf('[') > before.lastIndexOf(']');
    return isInside ? members : `[${members}]`;
  });
