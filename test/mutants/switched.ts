import type { Form, Mutation } from './mutations.ts';

/** A mutation with the number by which it is switched on. */
export interface Numbered extends Mutation {
  readonly id: number;
}

const isOn = (id: number): string => `globalThis.__mutant(${id})`;

const choice = (all: readonly Numbered[], form: (after: string) => string, original: string): string =>
  all.map(({ id, after }) => `${isOn(id)} ? ${form(after)} : `).join('') + original;

const forms: Readonly<Record<Form, (all: readonly Numbered[], original: string) => string>> = {
  expression: (all, original) => `(${choice(all, (after) => `(${after})`, `(${original})`)})`,
  arguments: (all, original) => `...(${choice(all, (after) => `[${after}]`, `[${original}]`)})`,
  property: (all, original) => `...(${choice(all, (after) => `{ ${after} }`, `{ ${original} }`)})`,
  statement: (all, original) => `{ if (!(${all.map(({ id }) => isOn(id)).join(' || ')})) ${original} }`,
  middleware: (all, original) => `globalThis.__skips(${all[0]?.id}, ${original})`,
};

/** The text with every mutation in it, each of which the switch can choose. */
export const withSwitches = (text: string, mutations: readonly Numbered[]): string => {
  const groups = Object.values(Object.groupBy(mutations, ({ start, end, form }) => `${start} ${end} ${form}`)).map(
    (all = []) => ({ ...(all[0] as Numbered), all }),
  );
  groups.sort((one, other) => one.start - other.start || other.end - one.end);
  const rewrite = (start: number, end: number): string => {
    let [at, result] = [start, ''];
    for (let next = groups[0]; next && next.start < end; next = groups[0]) {
      groups.shift();
      result += text.slice(at, next.start) + forms[next.form](next.all, rewrite(next.start, next.end));
      at = next.end;
    }
    return result + text.slice(at, end);
  };
  return rewrite(0, text.length);
};

/**
 * Defines the switch in each process that loads a changed file: the number of the mutant that is on, or `R` and the
 * number of a recording, for which each reached mutant is appended to a second file. The process of the tests sets it;
 * others read it from a file of 8 bytes.
 */
export const switchOf = (file: string, reached: string): string =>
  `globalThis.__mutant ??= ((fs) => {
  if (!fs) return () => false;
  const [open, bytes, seen] = [fs.openSync(${JSON.stringify(file)}, 'r'), Buffer.alloc(8), new Set()];
  let recording = '';
  return (id) => {
    if (!globalThis.__chosen) fs.readSync(open, bytes, 0, 8, 0);
    const now = globalThis.__chosen ?? bytes.latin1Slice();
    if (now[0] !== 'R') return Number(now) === id;
    if (now !== recording) { recording = now; seen.clear(); }
    if (!seen.has(id)) fs.appendFileSync(${JSON.stringify(reached)}, id + '\\n');
    seen.add(id);
    return false;
  };
})(globalThis.process?.getBuiltinModule?.('node:fs'));
globalThis.__skips ??= (id, middleware) => Object.fromEntries(Object.entries(middleware).map(([name, step]) =>
  [name, (...all) => globalThis.__mutant(id) ? undefined : step(...all)]));`.replaceAll('\n', ' ');
