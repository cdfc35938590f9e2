/**
 * `npm run bench:init`: cold starts of each bundled function. Measures the time and CPU from the start of its process
 * to its request for the first event, with and without the V8 code cache, and the time from there to its first
 * response. Prints medians of alternating rounds. The first row is an empty function; jobs are not called.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { styleText } from 'node:util';
import { type Bundle, bundleFunctions } from '../infra/build/bundle.ts';
import { functionFiles } from '../infra/build/function-files.ts';
import { endWithNpm } from '../infra/local/processes.ts';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { readArguments } from '../scripts/read-arguments.ts';
import { type Beginning, beginOnce } from './first-call.ts';
import { firstEvents } from './first-events.ts';
import { endProgress, progress } from './progress.ts';
import { makeBed } from './seed.ts';
import { median } from './statistics.ts';

const { values: flags, positionals: prefixes } = readArguments(
  `Usage: npm run bench:init -- [--rounds=3] [<name prefix>…]
Bundles the functions, or those whose names begin with a prefix, and prints the size and start-up time of each.
  --rounds  how often each is started; the median is printed`,
  {
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '3' } },
  },
);
const rounds = Number(flags.rounds);
endWithNpm();
const empty: Bundle = { name: '(empty function)', bytes: 0, parts: [], native: false, pictures: false };
const directory = await mkdtemp(path.join(tmpdir(), 'basalt-init-'));
const folder = path.join(directory, 'functions');

/** The same bundles without code caches. */
const bare = path.join(directory, 'bare');

const middle = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
};

interface Measured {
  readonly compiled: Beginning[];
  readonly bare: Beginning[];
}

/** In ms, with and without the code cache. */
interface Times {
  readonly init: number;
  readonly cpu: number;
  readonly bareInit: number;
  readonly bareCpu: number;
  readonly call: number | undefined;
}

interface Row {
  readonly bundle: Bundle;
  readonly times: Times;
  readonly status: number | undefined;
}

const rowOf = (bundle: Bundle, { compiled, bare }: Measured): Row => ({
  bundle,
  times: {
    init: median(compiled.map(({ init }) => init)),
    cpu: median(compiled.map(({ cpu }) => cpu)),
    bareInit: median(bare.map(({ init }) => init)),
    bareCpu: median(bare.map(({ cpu }) => cpu)),
    call: middle(compiled.map(({ call }) => call)),
  },
  status: compiled[0]?.status,
});

const middleOf = (rows: readonly Row[]): Times => ({
  init: median(rows.map(({ times }) => times.init)),
  cpu: median(rows.map(({ times }) => times.cpu)),
  bareInit: median(rows.map(({ times }) => times.bareInit)),
  bareCpu: median(rows.map(({ times }) => times.bareCpu)),
  call: middle(rows.map(({ times }) => times.call)),
});

const cell = (value: number | undefined, width: number): string => (value?.toFixed(0) ?? '').padStart(width);

const print = (rows: readonly Row[]): void => {
  const width = Math.max(...rows.map(({ bundle }) => bundle.name.length));
  const line = (name: string, times: Times, bytes: number, status = ''): string =>
    [
      name.padEnd(width),
      cell(times.init, 7),
      cell(times.cpu, 6),
      cell(times.bareInit, 10),
      cell(times.bareCpu, 6),
      cell(times.call, 11),
      status.padStart(6),
      cell(bytes / 1024, 6),
    ].join('  ');
  const areas = new Map(functionFiles().map(({ name, file }) => [name, path.dirname(file).replace('functions/', '')]));
  console.log(`${'function'.padEnd(width)}  init ms  CPU ms  uncompiled  CPU ms  1st call ms  status     KiB`);
  for (const [area, members] of Map.groupBy(rows, ({ bundle }) => areas.get(bundle.name) ?? '')) {
    if (area !== '') {
      const bytes = median(members.map(({ bundle }) => bundle.bytes));
      console.log(`\n${styleText('bold', line(`${area}: median of ${members.length}`, middleOf(members), bytes))}`);
    }
    for (const row of members) {
      console.log(
        line(row.bundle.name, row.times, row.bundle.bytes, row.status === undefined ? '' : String(row.status)),
      );
    }
  }
};

const stack = await startStack({
  ...parseSettings({ RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', BASALT_DIR: path.join(directory, 'stack') }),
  port: 0,
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
try {
  progress('bundling');
  const built = await bundleFunctions(folder, { codeCaches: true, ...(prefixes.length > 0 && { prefixes }) });
  await mkdir(path.join(folder, empty.name));
  await writeFile(path.join(folder, empty.name, 'index.mjs'), 'export const handler = async () => {};\n');
  await cp(folder, bare, { recursive: true, filter: (file) => !file.endsWith('.cache') });
  const bundles = [empty, ...built];
  const events = firstEvents(await makeBed(stack.dashboardUrl, ['posts']));
  const measured = new Map(bundles.map(({ name }) => [name, { compiled: [], bare: [] } as Measured]));
  for (let round = 1; round <= rounds; round++) {
    let at = 0;
    for (const [name, beginnings] of measured) {
      progress(`round ${round} of ${rounds}: ${++at} of ${measured.size}, ${name}`);
      beginnings.compiled.push(await beginOnce(name, folder, stack.env, events.get(name)));
      beginnings.bare.push(await beginOnce(name, bare, stack.env, undefined));
    }
  }
  endProgress();
  print(bundles.map((bundle) => rowOf(bundle, measured.get(bundle.name) ?? { compiled: [], bare: [] })));
} finally {
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
