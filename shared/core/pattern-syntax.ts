/** Pairs of first and last code point, both included, in ascending order. */
export type Ranges = readonly (readonly [first: number, last: number])[];

export type Node =
  | { readonly kind: 'one'; readonly of: Ranges }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'at'; readonly place: TextPlace };

export type TextPlace = 'start' | 'end' | 'word edge' | 'inside word';

const lastCodePoint = 0x10ffff;
const digits: Ranges = [[48, 57]];
export const wordCharacters: Ranges = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const spaces: Ranges = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];

const sorted = (ranges: Ranges): Ranges => {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
};

const except = (ranges: Ranges): Ranges => {
  let from = 0;
  const rest: (readonly [number, number])[] = [];
  for (const [first, last] of ranges) {
    if (first > from) rest.push([from, first - 1]);
    from = last + 1;
  }
  return from > lastCodePoint ? rest : [...rest, [from, lastCodePoint]];
};

export const isIn = (ranges: Ranges, point: number): boolean =>
  ranges.some(([first, last]) => first <= point && point <= last);

const classes: Readonly<Record<string, Ranges>> = {
  d: digits,
  w: wordCharacters,
  s: spaces,
  D: except(digits),
  W: except(wordCharacters),
  S: except(spaces),
};
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 };

/** The message follows "has a pattern that". */
export class Unusable extends Error {}

const unsupported = (what: string): Unusable =>
  new Unusable(`uses ${what}, which cannot be matched in one pass. Use characters, classes, groups, | and repetitions`);

/** Parses an expression that JavaScript accepts in Unicode mode, so its syntax is valid. */
class Parser {
  #at = 0;
  readonly #points: readonly string[];

  constructor(source: string) {
    this.#points = [...source];
  }

  parse(): Node {
    return this.#alternatives();
  }

  #next(): string {
    return this.#points[this.#at] ?? '';
  }

  #take(text: string): boolean {
    const isThere = [...text].every((point, offset) => this.#points[this.#at + offset] === point);
    if (isThere) this.#at += [...text].length;
    return isThere;
  }

  #until(end: string): string {
    const from = this.#at;
    while (this.#next() !== end) this.#at += 1;
    this.#at += 1;
    return this.#points.slice(from, this.#at - 1).join('');
  }

  #alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'any', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (!['', '|', ')'].includes(this.#next())) parts.push(this.#repeated(this.#atom()));
    return { kind: 'all', parts };
  }

  #repeated(part: Node): Node {
    const [min, max] = this.#counts() ?? [];
    if (min === undefined || max === undefined) return part;
    // Greedy or not, the same texts match.
    this.#take('?');
    return { kind: 'repeat', part, min, max };
  }

  #counts(): readonly [min: number, max: number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    if (!this.#take('{')) return undefined;
    const [min = '', max] = this.#until('}').split(',');
    return [Number(min), max === undefined ? Number(min) : max === '' ? Number.POSITIVE_INFINITY : Number(max)];
  }

  #atom(): Node {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return { kind: 'one', of: this.#set() };
    if (this.#take('^')) return { kind: 'at', place: 'start' };
    if (this.#take('$')) return { kind: 'at', place: 'end' };
    if (this.#take('.')) return { kind: 'one', of: except(lineEnds) };
    if (this.#take('\\b')) return { kind: 'at', place: 'word edge' };
    if (this.#take('\\B')) return { kind: 'at', place: 'inside word' };
    return { kind: 'one', of: this.#member() };
  }

  #group(): Node {
    if (this.#take('?<') && !['=', '!'].includes(this.#next())) this.#until('>');
    else if (this.#points[this.#at - 1] === '<') throw unsupported('a look behind');
    else if (this.#take('?') && !this.#take(':')) throw unsupported('a look ahead or a flag');
    const inside = this.#alternatives();
    this.#take(')');
    return inside;
  }

  /** A character, or a class such as `\d`. */
  #member(): Ranges {
    const point = this.#next();
    this.#at += 1;
    if (point !== '\\') return this.#single(point.codePointAt(0) ?? 0);
    const escaped = this.#next();
    this.#at += 1;
    const known = classes[escaped];
    if (known) return known;
    if (escaped === 'x') return this.#single(this.#hex(2));
    if (escaped === 'u') return this.#single(this.#take('{') ? Number.parseInt(this.#until('}'), 16) : this.#unit());
    if (/[1-9k]/.test(escaped)) throw unsupported('a reference to a group');
    if (/[pPc]/.test(escaped)) throw unsupported(`\\${escaped}`);
    return this.#single(controls[escaped] ?? escaped.codePointAt(0) ?? 0);
  }

  #single(point: number): Ranges {
    if (point >= 0xd800 && point <= 0xdfff) throw new Unusable('has half of a surrogate pair');
    return [[point, point]];
  }

  #hex(length: number): number {
    this.#at += length;
    return Number.parseInt(this.#points.slice(this.#at - length, this.#at).join(''), 16);
  }

  /** `\uD83D\uDE00` is one character. */
  #unit(): number {
    const first = this.#hex(4);
    const isPair = first >= 0xd800 && first <= 0xdbff && this.#take('\\u');
    return isPair ? (String.fromCharCode(first, this.#hex(4)).codePointAt(0) ?? first) : first;
  }

  #set(): Ranges {
    const isNegated = this.#take('^');
    const members: (readonly [number, number])[] = [];
    while (!this.#take(']')) {
      const first = this.#take('\\b') ? ([[8, 8]] as const) : this.#member();
      const isRange = this.#next() === '-' && this.#points[this.#at + 1] !== ']';
      if (isRange && first.length === 1) {
        this.#take('-');
        const last = this.#take('\\b') ? ([[8, 8]] as const) : this.#member();
        members.push([first[0]?.[0] ?? 0, last[0]?.[1] ?? 0]);
      } else members.push(...first);
    }
    return isNegated ? except(sorted(members)) : sorted(members);
  }
}

/** Throws `Unusable` if the expression is invalid or uses lookaround. */
export const parsePattern = (source: string): Node => {
  try {
    new RegExp(source, 'u');
  } catch {
    throw new Unusable('is not a valid regular expression');
  }
  return new Parser(source).parse();
};

const shownPoint = (point: number): string => `\\x{${point.toString(16)}}`;

const places: Readonly<Record<TextPlace, string>> = {
  start: '\\A',
  end: '\\z',
  'word edge': '\\b',
  'inside word': '\\B',
};

/** The expression for MongoDB, with JavaScript's meaning. */
export const toPcre = (node: Node): string => {
  if (node.kind === 'at') return places[node.place];
  if (node.kind === 'all') return node.parts.map(toPcre).join('');
  if (node.kind === 'any') return `(?:${node.parts.map(toPcre).join('|')})`;
  if (node.kind === 'repeat') {
    const max = node.max === Number.POSITIVE_INFINITY ? '' : node.max;
    const part = toPcre(node.part);
    // MongoDB finds no match for a group that is repeated some thousand times.
    return `${node.part.kind === 'one' ? part : `(?:${part})`}{${node.min},${max}}`;
  }
  // A class without members matches nothing.
  if (node.of.length === 0) return '(?!)';
  return `[${node.of.map(([first, last]) => `${shownPoint(first)}-${shownPoint(last)}`).join('')}]`;
};
