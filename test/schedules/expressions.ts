/** An attribute as DynamoDB sends it. */
export type Attribute = { readonly S: string } | { readonly N: string } | { readonly SS: readonly string[] };
export type Attributes = Readonly<Record<string, Attribute>>;

/** What an expression is evaluated with: the item, and the names and values of the request. */
export interface Context {
  readonly item: Attributes | undefined;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Attributes;
}

type Operand = (context: Context) => Attribute | undefined;
type Condition = (context: Context) => boolean;
/** The new value of an attribute; `undefined` removes it. */
type Change = (context: Context) => readonly [name: string, value: Attribute | undefined];

/** The part of a `ValidationException` that names the reason. */
export class InvalidExpression extends Error {}

const token = /\s*(#\w+|:\w+|\w+|<=|>=|[=<>(),+-])/y;

const tokensOf = (text: string): string[] => {
  token.lastIndex = 0;
  const found: string[] = [];
  while (token.lastIndex < text.trimEnd().length) {
    const match = token.exec(text);
    if (!match?.[1]) throw new Error(`The fake table cannot read the expression: ${text}`);
    found.push(match[1]);
  }
  return found;
};

const numberOf = (value: Attribute | undefined): number | undefined =>
  value && 'N' in value ? Number(value.N) : undefined;

/** Below 0, 0 or above 0 for two values of the same type; otherwise `undefined`. Texts in byte order. */
const compare = (a: Attribute | undefined, b: Attribute | undefined): number | undefined => {
  if (!a || !b) return undefined;
  if ('N' in a && 'N' in b) return Number(a.N) - Number(b.N);
  if ('S' in a && 'S' in b) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if (!('SS' in a && 'SS' in b)) return undefined;
  return a.SS.length === b.SS.length && a.SS.every((one) => b.SS.includes(one)) ? 0 : undefined;
};

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const contains = (whole: Attribute | undefined, part: Attribute | undefined): boolean => {
  if (!whole || !part || !('S' in part)) return false;
  if ('SS' in whole) return whole.SS.includes(part.S);
  return 'S' in whole && whole.S.includes(part.S);
};

const sizeOf = (value: Attribute | undefined): Attribute | undefined => {
  if (!value || 'N' in value) return undefined;
  return { N: String('SS' in value ? value.SS.length : value.S.length) };
};

const nameOf = (name: string, { names }: Context): string => (name.startsWith('#') ? (names[name] ?? name) : name);

const union = (a: Attribute | undefined, b: Attribute | undefined): Attribute | undefined => {
  if (b && 'N' in b && (!a || 'N' in a)) return { N: String(Number(a?.N ?? 0) + Number(b.N)) };
  if (b && 'SS' in b && (!a || 'SS' in a)) return { SS: [...new Set([...(a?.SS ?? []), ...b.SS])] };
  throw new InvalidExpression('An operand in the update expression has an incorrect data type');
};

const difference = (a: Attribute | undefined, b: Attribute | undefined): Attribute | undefined => {
  if (!b || !('SS' in b) || (a && !('SS' in a))) {
    throw new InvalidExpression('An operand in the update expression has an incorrect data type');
  }
  const left = (a?.SS ?? []).filter((one) => !b.SS.includes(one));
  return left.length > 0 ? { SS: left } : undefined;
};

/** Reads the subset of DynamoDB's expressions that `shared/` uses. Anything else is an error. */
class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  #next = (): string => this.#tokens[this.#at++] ?? '';
  #has = (text: string): boolean => this.#tokens[this.#at] === text && this.#at++ >= 0;
  #expect(text: string): void {
    if (!this.#has(text)) throw new Error(`The fake table expects ${text} in: ${this.#tokens.join(' ')}`);
  }
  isAtEnd = (): boolean => this.#at >= this.#tokens.length;

  #operand(): Operand {
    const word = this.#next();
    if (word.startsWith(':')) return ({ values }) => values[word];
    if (!this.#has('(')) return (context) => context.item?.[nameOf(word, context)];
    const path = this.#operand();
    if (word === 'size') {
      this.#expect(')');
      return (context) => sizeOf(path(context));
    }
    if (word !== 'if_not_exists') throw new Error(`The fake table does not know the function ${word}`);
    this.#expect(',');
    const otherwise = this.#operand();
    this.#expect(')');
    return (context) => path(context) ?? otherwise(context);
  }

  #test(): Condition {
    if (this.#has('NOT')) {
      const test = this.#test();
      return (context) => !test(context);
    }
    if (this.#has('(')) {
      const test = this.condition();
      this.#expect(')');
      return test;
    }
    const word = this.#tokens[this.#at] ?? '';
    if (['attribute_exists', 'attribute_not_exists', 'contains', 'begins_with'].includes(word)) return this.#function();
    const left = this.#operand();
    const sign = this.#next();
    if (sign === 'BETWEEN') {
      const from = this.#operand();
      this.#expect('AND');
      const to = this.#operand();
      return (context) =>
        (compare(left(context), from(context)) ?? -1) >= 0 && (compare(left(context), to(context)) ?? 1) <= 0;
    }
    const right = this.#operand();
    const holds = comparisons[sign];
    if (!holds) throw new Error(`The fake table does not know the comparison ${sign}`);
    return (context) => {
      const order = compare(left(context), right(context));
      return order !== undefined && holds(order);
    };
  }

  #function(): Condition {
    const name = this.#next();
    this.#expect('(');
    const path = this.#operand();
    const operand = this.#has(',') ? this.#operand() : path;
    this.#expect(')');
    if (name === 'attribute_exists') return (context) => path(context) !== undefined;
    if (name === 'attribute_not_exists') return (context) => path(context) === undefined;
    if (name === 'contains') return (context) => contains(path(context), operand(context));
    return (context) => {
      const [text, start] = [path(context), operand(context)];
      return text !== undefined && start !== undefined && 'S' in text && 'S' in start && text.S.startsWith(start.S);
    };
  }

  condition(): Condition {
    const all: Condition[][] = [];
    do {
      const tests: Condition[] = [];
      do tests.push(this.#test());
      while (this.#has('AND'));
      all.push(tests);
    } while (this.#has('OR'));
    return (context) => all.some((tests) => tests.every((test) => test(context)));
  }

  #set(): Change {
    const name = this.#next();
    this.#expect('=');
    const left = this.#operand();
    const sign = this.#has('-') ? -1 : this.#has('+') ? 1 : 0;
    const right = sign === 0 ? left : this.#operand();
    return (context) => {
      const [a, b] = [left(context), right(context)];
      if (!a || !b)
        throw new InvalidExpression('The provided expression refers to an attribute that does not exist in the item');
      if (sign === 0) return [nameOf(name, context), a];
      return [nameOf(name, context), { N: String((numberOf(a) ?? 0) + sign * (numberOf(b) ?? 0)) }];
    };
  }

  #change(section: string): Change {
    if (section === 'SET') return this.#set();
    const name = this.#next();
    if (section === 'REMOVE') return (context) => [nameOf(name, context), undefined];
    const operand = this.#operand();
    const by = section === 'ADD' ? union : difference;
    return (context) => [nameOf(name, context), by(context.item?.[nameOf(name, context)], operand(context))];
  }

  changes(): readonly Change[] {
    const all: Change[] = [];
    while (!this.isAtEnd()) {
      const section = this.#next();
      if (!['SET', 'REMOVE', 'ADD', 'DELETE'].includes(section))
        throw new Error(`Not a section of an update: ${section}`);
      do all.push(this.#change(section));
      while (this.#has(','));
    }
    return all;
  }
}

const cached = <T>(read: (reader: Reader) => T): ((text: string) => T) => {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const reader = new Reader(text);
    const made = read(reader);
    if (!reader.isAtEnd()) throw new Error(`The fake table cannot read the end of: ${text}`);
    known.set(text, made);
    return made;
  };
};

const conditionOf = cached((reader) => reader.condition());
const changesOf = cached((reader) => reader.changes());

export const holds = (text: string | undefined, context: Context): boolean =>
  text === undefined || conditionOf(text)(context);

/** The attributes that an update changes, with their new values. */
export const changed = (text: string, context: Context) => changesOf(text).map((change) => change(context));
