import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { endProgress, progress } from '../../bench/progress.ts';
import { endWithNpm, requireNode } from '../../infra/local/processes.ts';
import { exitWithUsage, readArguments } from '../../scripts/read-arguments.ts';
import { seededRandom } from '../histories/random.ts';
import { areas } from './areas.ts';
import { importClosure } from './imports.ts';
import { changedLines, harmlessOf, type Mutant, mutantsOf, root } from './mutants.ts';
import { Laboratory } from './run.ts';

requireNode();
const usage = `Usage: npm run test:mutants -- --area=${Object.keys(areas).join('|')}
       [--file=<part>] [--operator=<part>] [--tests=<part>] [--changed]
       [--sample=<n>] [--seed=<text>] [--minutes=<n>] [--generic] [--list] [--directory=<folder>]
Changes the code of an area in one place at a time (a mutant), in a copy of the working tree, and runs the tests that
reach this place. A mutant that no test notices survives: a test is missing, or the code is not needed.
  --file       only mutants whose file:line contains this text
  --operator   only mutants of an operator, such as condition, filter, middleware, swap or check
  --tests      only test files whose paths contain this text, such as test/shared/
  --changed    only lines that differ from the branch main
  --sample     only this many mutants
  --seed       chooses the mutants of a sample, and their order (default: 1)
  --minutes    starts no further mutant after this time
  --generic    Stryker's operators instead of those for access, single use and quotas; always in the area shared
  --list       prints the mutants and runs nothing
  --directory  receives <area>.jsonl, and which tests reach which mutants (default: .mutants)
Exits with 1 if a mutant survives that test/mutants/harmless.json does not explain.`;
const { values } = readArguments(usage, {
  options: {
    area: { type: 'string' },
    file: { type: 'string', default: '' },
    changed: { type: 'boolean', default: false },
    sample: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '1' },
    generic: { type: 'boolean', default: false },
    operator: { type: 'string', default: '' },
    tests: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    directory: { type: 'string', default: path.join(root, '.mutants') },
  },
});
const name = values.area ?? '';
const area = areas[name] ?? exitWithUsage(`--area must be ${Object.keys(areas).join(', ')}\n${usage}`);
endWithNpm();

/** In an order that the seed chooses, so that a run that ends early is a sample too. */
const shuffled = (all: readonly Mutant[]): readonly Mutant[] => {
  const random = seededRandom(values.seed);
  const order = new Map(all.map((mutant) => [mutant, random(2 ** 31)]));
  return all.toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0));
};

const everyMutant = mutantsOf(area, values.generic || name === 'shared');
const harmless = harmlessOf(everyMutant, new Set(everyMutant.map(({ file }) => file)));
const changed = values.changed ? changedLines() : undefined;
const asked = everyMutant.filter(
  (mutant) =>
    `${mutant.file}:${mutant.line}`.includes(values.file) &&
    mutant.operator.includes(values.operator) &&
    !harmless.has(mutant) &&
    (!changed || changed.has(`${mutant.file}:${mutant.line}`)),
);
const chosen = shuffled(asked).slice(0, Number(values.sample ?? asked.length));
const place = ({ file, line, operator, before, changed: after }: Mutant): string =>
  `${file}:${line} ${operator}\n  - ${before}\n  + ${after}`;
if (values.list) {
  const total = `${chosen.length} mutants of ${everyMutant.length}; ${harmless.size} are harmless`;
  await new Promise((resolve) => process.stdout.write(`${[...chosen.map(place), total].join('\n')}\n`, resolve));
  process.exit(0);
}

const laboratory = new Laboratory(everyMutant);
for (const event of ['exit', 'SIGINT', 'SIGTERM'] as const) {
  process.once(event, () => {
    laboratory.end();
    if (event !== 'exit') process.exit(1);
  });
}
mkdirSync(values.directory, { recursive: true });

interface Recorded {
  readonly seconds: number;
  readonly failed?: string;
  readonly reached: readonly number[];
}

/** What each test file reaches, from an earlier run if neither the file nor a mutant has changed. */
const cacheFile = path.join(values.directory, `${name}-reached.json`);
const cache: Record<string, Recorded> = existsSync(cacheFile) ? JSON.parse(readFileSync(cacheFile, 'utf8')) : {};
const all = createHash('sha256').update(JSON.stringify(everyMutant)).digest('base64');
const closure = importClosure(root);
const mutated = new Set(chosen.map(({ file }) => file));
const tests = [
  ...globSync('test/shared/**/*.test.ts', { cwd: root }).filter((test) =>
    closure(test).some((file) => mutated.has(file)),
  ),
  ...globSync([...area.tests], { cwd: root }),
]
  .filter((test) => test.includes(values.tests))
  .sort();
const recorded = new Map<string, Recorded>();
for (const [at, test] of tests.entries()) {
  const key = createHash('sha256')
    .update(all)
    .update(readFileSync(path.join(root, test)))
    .digest('base64');
  progress(`reached by ${test} (${at + 1} of ${tests.length})`);
  let known = cache[key];
  if (!known) {
    const { failed, seconds, reached } = await laboratory.record(test);
    known = { seconds, reached, ...(failed !== undefined && { failed }) };
    cache[key] = known;
    writeFileSync(cacheFile, JSON.stringify(cache));
  }
  if (known.failed === undefined) recorded.set(test, known);
  else progress(`not used, because it fails on the copy without a mutant: ${known.failed}`);
}

const isUnit = (test: string): boolean => test.startsWith('test/shared/');

/** A mutant that many tests reach survives if those that fit into this time do. */
const maxSeconds = 30;
const kills = new Map<string, number>();

/** The tests that reach a mutant: first those that found others, and the quick ones. */
const testsOf = ({ id }: Mutant): readonly string[] => {
  const reaching = [...recorded].filter(([, { reached }]) => reached.includes(id));
  const order = ([test, { seconds }]: [string, Recorded]): number => seconds / (1 + (kills.get(test) ?? 0));
  let left = maxSeconds;
  return reaching
    .sort((one, other) => order(one) - order(other))
    .flatMap(([test, { seconds }], at) => {
      left -= seconds;
      return left > 0 || at === 0 ? [test] : [];
    });
};

type State = 'killed' | 'survived' | 'timeout' | 'not reached';

const judge = async (
  mutant: Mutant,
): Promise<{ readonly state: State; readonly by?: string; readonly tests: number }> => {
  const files = testsOf(mutant);
  if (files.length === 0) return { state: 'not reached', tests: 0 };
  const limit = 30 + 4 * files.reduce((sum, file) => sum + (recorded.get(file)?.seconds ?? 0), 0);
  let outcome = await laboratory.withMutant(mutant, files, limit);
  const onStack = [...recorded].filter(([test, { reached }]) => !isUnit(test) && reached.includes(mutant.id));
  if (outcome.failed === undefined && onStack.length === 1) {
    // The stack may have computed it when it started, so again with a new one.
    laboratory.restart();
    outcome = await laboratory.withMutant(mutant, files, limit);
    laboratory.restart();
  }
  const { failed, isTimeout } = outcome;
  if (failed === undefined) return { state: 'survived', tests: files.length };
  const killer = files.find((file) => failed.startsWith(file));
  if (killer) kills.set(killer, (kills.get(killer) ?? 0) + 1);
  return { state: isTimeout ? 'timeout' : 'killed', by: failed, tests: files.length };
};

const log = path.join(values.directory, `${name}.jsonl`);
writeFileSync(log, '');
const counts = { killed: 0, survived: 0, timeout: 0, 'not reached': 0 };
const end = performance.now() + Number(values.minutes) * 60_000;
for (const [at, mutant] of chosen.entries()) {
  if (performance.now() > end) break;
  const { state, ...rest } = await judge(mutant);
  counts[state] += 1;
  const { file, line, operator, before, changed: after } = mutant;
  appendFileSync(log, `${JSON.stringify({ state, file, line, operator, before, after, ...rest })}\n`);
  progress(`${at + 1} of ${chosen.length}: ${JSON.stringify(counts)}`);
  if (state === 'survived' || state === 'not reached') console.log(`${state}: ${place(mutant)}`);
}
// A test that now fails without a mutant may have failed for another reason than the mutants before.
laboratory.restart();
for (const file of kills.keys()) {
  const { failed } = await laboratory.record(file);
  if (failed !== undefined) console.log(`fails without a mutant too: ${failed}`);
}
endProgress();
console.log('area        mutants  killed  timeout  survived  not reached  harmless');
const run = Object.values(counts).reduce((sum, count) => sum + count, 0);
const cells = [run, counts.killed, counts.timeout, counts.survived, counts['not reached'], harmless.size];
console.log(
  `${name.padEnd(10)} ${cells.map((cell, at) => String(cell).padStart([8, 7, 8, 9, 12, 9][at] ?? 0)).join(' ')}`,
);
laboratory.end();
console.log(`${run} of ${everyMutant.length} mutants, seed ${values.seed}, ${recorded.size} test files`);
process.exit(counts.survived + counts['not reached'] > 0 ? 1 : 0);
