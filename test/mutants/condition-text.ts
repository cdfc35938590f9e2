/** A variant of a condition of DynamoDB: one part without effect, or one comparison weakened. */
export interface Variant {
  readonly kind: 'condition' | 'comparison';
  readonly text: string;
}

/** True for a condition. Expressions that change an item begin with `SET`, `ADD`, `REMOVE` or `DELETE`. */
export const isCondition = (text: string): boolean =>
  /\battribute_(?:not_)?exists\(|\bcontains\(|\w (?:=|<>|<=?|>=?) :\w/.test(text) &&
  !/^(?:SET|ADD|REMOVE|DELETE) /.test(text);

/** The ends of `(…)` and `${…}`, whose contents belong to one part. */
const closes: Readonly<Record<string, string>> = { '(': ')', '{': '}' };

/** The parts between the operators outside of parentheses. */
const split = (text: string, operator: ' AND ' | ' OR '): readonly string[] => {
  const open: string[] = [];
  const parts = [''];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (closes[character]) open.push(closes[character]);
    else if (character === open.at(-1)) open.pop();
    if (open.length === 0 && text.startsWith(operator, at)) {
      parts.push('');
      at += operator.length - 1;
    } else parts[parts.length - 1] += character;
  }
  return parts;
};

/** DynamoDB rejects values that no expression uses, so a part stays in the text and always holds, or never does. */
const without = (part: string, joined: 'AND' | 'OR'): string => {
  const whole = / (?:AND|OR) |\$\{/.test(part) && !/^\(.*\)$/.test(part) ? `(${part})` : part;
  return joined === 'AND' ? `(${whole} OR NOT ${whole})` : `(${whole} AND NOT ${whole})`;
};

/** Each variant without one part, also of the parts in parentheses. */
const dropped = (text: string): readonly string[] => {
  const inner = /^\((.*)\)$/.exec(text)?.[1];
  const joined = split(text, ' OR ').length > 1 ? 'OR' : 'AND';
  const parts = split(text, ` ${joined} `);
  if (parts.length === 1) return inner === undefined ? [] : dropped(inner).map((each) => `(${each})`);
  return parts.flatMap((part, at) =>
    [without(part, joined), ...dropped(part)].map((each) => parts.with(at, each).join(` ${joined} `)),
  );
};

const weaker: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };

export const variantsOf = (text: string): readonly Variant[] => [
  ...(split(text, ' OR ').length > 1 || split(text, ' AND ').length > 1 ? dropped(text) : [without(text, 'AND')]).map(
    (variant) => ({ kind: 'condition' as const, text: variant }),
  ),
  ...[...text.matchAll(/ (<=|>=|<|>) /g)].map(({ 1: operator = '', index }) => ({
    kind: 'comparison' as const,
    text: `${text.slice(0, index)} ${weaker[operator]} ${text.slice(index + operator.length + 2)}`,
  })),
];
