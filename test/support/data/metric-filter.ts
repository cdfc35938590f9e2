type Line = Readonly<Record<string, unknown>>;

/** Tokens of a filter pattern: brackets, `&&`, `||`, operators, names such as `$.a.b`, texts and numbers. */
const words = /\(|\)|&&|\|\||!=|>=|<=|=|>|<|NOT EXISTS|EXISTS|\$[\w.[\]]+|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?/g;

const valueAt = (line: Line, name: string): unknown =>
  name
    .split('.')
    .slice(1)
    .reduce<unknown>((value, key) => Object(value)[key] as unknown, line);

/** A text of a pattern; `*` matches any characters. */
const isLike = (value: unknown, text: string): boolean =>
  typeof value === 'string' &&
  new RegExp(
    `^${text
      .split('*')
      .map((part) => part.replace(/\W/g, '\\$&'))
      .join('.*')}$`,
    's',
  ).test(value);

const compare = (value: unknown, operator: string, wanted: string): boolean => {
  if (wanted.startsWith('"')) {
    const text = JSON.parse(wanted) as string;
    return operator === '=' ? isLike(value, text) : typeof value === 'string' && !isLike(value, text);
  }
  if (typeof value !== 'number') return false;
  const limit = Number(wanted);
  const holds = { '=': value === limit, '>': value > limit, '<': value < limit, '>=': value >= limit };
  return { ...holds, '<=': value <= limit, '!=': value !== limit }[operator] ?? false;
};

/** True if a CloudWatch filter pattern for JSON matches a log line. */
export const isCounted = (pattern: string, line: Line): boolean => {
  const rest = pattern.match(words) ?? [];
  const next = (): string => rest.shift() ?? '';
  const term = (): boolean => {
    const word = next();
    if (word === '(') {
      const held = either();
      next();
      return held;
    }
    const value = valueAt(line, word);
    const operator = next();
    if (operator.endsWith('EXISTS')) return (operator === 'EXISTS') === (value !== undefined);
    return compare(value, operator, next());
  };
  const both = (): boolean => {
    let held = term();
    while (rest[0] === '&&' && next()) held = term() && held;
    return held;
  };
  const either = (): boolean => {
    let held = both();
    while (rest[0] === '||' && next()) held = both() || held;
    return held;
  };
  return either();
};
