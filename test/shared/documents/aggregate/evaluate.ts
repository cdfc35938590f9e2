/** What a small evaluator of expressions has made: bytes of memory, counted as MongoDB takes them at least. */
export interface Made {
  bytes: number;
  /** Expressions that may still be worked out; shared by all turns of loops. */
  readonly steps: { left: number };
}

const maxSteps = 100_000;

/** Nothing made yet. */
export const nothingMade = (): Made => ({ bytes: 0, steps: { left: maxSteps } });

type Values = Readonly<Record<string, unknown>>;
type Operator = (operand: never, variables: Values, made: Made) => unknown;

const entry = 16;

const made = <T>(value: T, bytes: number, sum: Made): T => {
  sum.bytes += bytes;
  if (sum.bytes > 2e8) throw new RangeError('too much to work out here');
  return value;
};

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const reach = (value: unknown, path: readonly string[], sum: Made): unknown => {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(value)) {
    const found = value.map((element) => reach(element, path, sum)).filter((element) => element !== undefined);
    return made(found, entry * found.length, sum);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  return reach((value as Values)[name], rest, sum);
};

const operators: Readonly<Record<string, Operator>> = {
  $literal: (operand: unknown) => operand,
  $size: ([operand]: unknown[], variables, sum) => list(evaluate(operand, variables, sum)).length,
  $add: (operands: unknown[], variables, sum) =>
    operands.reduce((total: number, part) => total + Number(evaluate(part, variables, sum) ?? 0), 0),
  $concatArrays: (operands: unknown[], variables, sum) => {
    const all = operands.flatMap((part) => list(evaluate(part, variables, sum)));
    return made(all, entry * all.length, sum);
  },
  $concat: (operands: unknown[], variables, sum) => {
    const all = operands.map((part) => text(evaluate(part, variables, sum))).join('');
    return made(all, all.length, sum);
  },
  $replaceAll: ({ input, find, replacement }: Values, variables, sum) => {
    const [from, what, to] = [input, find, replacement].map((part) => text(evaluate(part, variables, sum)));
    const all = what ? (from ?? '').replaceAll(what, () => to ?? '') : '';
    return made(all, all.length, sum);
  },
  $split: ([input, separator]: unknown[], variables, sum) => {
    const parts = text(evaluate(input, variables, sum)).split(text(evaluate(separator, variables, sum)) || ',');
    return made(
      parts,
      parts.reduce((bytes, part) => bytes + part.length + entry, 0),
      sum,
    );
  },
  $slice: ([input, count]: unknown[], variables, sum) => {
    const all = list(evaluate(input, variables, sum)).slice(0, Number(count));
    return made(all, entry * all.length, sum);
  },
  $cond: ([test, then, otherwise]: unknown[], variables, sum) =>
    evaluate(evaluate(test, variables, sum) ? then : otherwise, variables, sum),
  $first: ([operand]: unknown[], variables, sum) => list(evaluate(operand, variables, sum))[0],
  $mergeObjects: (operands: unknown[], variables, sum) => {
    const all = Object.assign({}, ...operands.map((part) => evaluate(part, variables, sum))) as Values;
    return made(all, 64 * Object.keys(all).length, sum);
  },
  $objectToArray: ([operand]: unknown[], variables, sum) => {
    const object = evaluate(operand, variables, sum);
    const fields =
      typeof object === 'object' && object !== null && !Array.isArray(object) ? Object.entries(object) : [];
    const all = fields.map(([k, v]) => ({ k, v: v as unknown }));
    return made(all, 200 * all.length, sum);
  },
  $range: ([from, to]: unknown[], variables, sum) => {
    const count = Math.max(0, Number(evaluate(to, variables, sum)) - Number(evaluate(from, variables, sum)));
    if (count > 1e6) throw new RangeError('too much to work out here');
    return made(
      Array.from({ length: count }, (_, at) => at),
      entry * count,
      sum,
    );
  },
  $let: ({ vars, in: inner }: { vars: Values; in: unknown }, variables, sum) => {
    const bound = Object.entries(vars).map(([name, value]) => [name, evaluate(value, variables, sum)]);
    return evaluate(inner, { ...variables, ...(Object.fromEntries(bound) as Values) }, sum);
  },
  $map: ({ input, as = 'this', in: inner }: { input: unknown; as?: string; in: unknown }, variables, sum) => {
    const all = list(evaluate(input, variables, sum)).map((element) =>
      evaluate(inner, { ...variables, [as]: element }, sum),
    );
    return made(all, entry * all.length, sum);
  },
  $filter: ({ input, as = 'this', cond }: { input: unknown; as?: string; cond: unknown }, variables, sum) => {
    const all = list(evaluate(input, variables, sum)).filter((element) =>
      evaluate(cond, { ...variables, [as]: element }, { ...sum, bytes: 0 }),
    );
    return made(all, entry * all.length, sum);
  },
  $reduce: ({ input, initialValue, in: inner }: Values, variables, sum) => {
    const begin = evaluate(initialValue, variables, sum);
    return list(evaluate(input, variables, sum)).reduce((value: unknown, element) => {
      // Only what the last turn made is counted, and what the value holds: the turns before are gone.
      const turn = { ...sum, bytes: 0 };
      const next = evaluate(inner, { ...variables, value, this: element }, turn);
      sum.bytes = Math.max(sum.bytes, turn.bytes);
      return next;
    }, begin);
  },
};

/** The value of an expression for the document `variables.ROOT`; adds what it makes to `sum`. */
export const evaluate = (expression: unknown, variables: Values, sum: Made): unknown => {
  sum.steps.left -= 1;
  if (sum.steps.left < 0) throw new RangeError('too much to work out here');
  if (typeof expression === 'string') {
    if (!expression.startsWith('$')) return expression;
    const whole = expression.startsWith('$$') ? expression.slice(2) : `ROOT.${expression.slice(1)}`;
    const [name = '', ...path] = whole.split('.');
    return reach(variables[name], path, sum);
  }
  if (Array.isArray(expression)) {
    return made(
      expression.map((element) => evaluate(element, variables, sum)),
      entry * expression.length,
      sum,
    );
  }
  if (typeof expression !== 'object' || expression === null) return expression;
  const [[name = '', operand] = [], ...others] = Object.entries(expression);
  if (name.startsWith('$') && others.length === 0) {
    const operator = operators[name];
    if (!operator) throw new Error(`${name} is not known here`);
    return operator(operand as never, variables, sum);
  }
  const fields = Object.entries(expression).map(([key, value]) => [key, evaluate(value, variables, sum)]);
  return made(Object.fromEntries(fields) as Values, 200 + 32 * fields.length, sum);
};
