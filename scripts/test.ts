import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCase, Vitest } from 'vitest/node';
import { requireNode } from '../infra/local/node-version.ts';
import { stopWhenAsked } from '../infra/local/npm-parent.ts';
import { descendantsOf } from '../test/support/clients/local-start.ts';
import { readArguments } from './read-arguments.ts';

/**
 * What `npm test` runs: every test but the long ones, with lint and types beside them; `npm run test:long` runs those,
 * `npm run test:bundled` those of the stack on bundles, and `npm run test:deploy` the rehearsal of a deployment. A test
 * that could not be asked is named `skipped: …`, one that failed `failed: …`. Ends with `N passed, N failed`.
 */
const root = path.resolve(import.meta.dirname, '..');

const say = (name: string, ok: boolean, begin: number): void => {
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${name.padEnd(8)} ${ok ? 'ok' : 'FAILED'}  ${seconds} s`);
};

const running: { vitest?: Vitest } = {};

/** Ends all that this process has started, and they in turn, where the system tells who that is. */
const endChildren = (signal: NodeJS.Signals): void => {
  if (!existsSync('/proc')) return;
  for (const pid of descendantsOf(process.pid)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended with another.
    }
  }
};

const patienceMs = 5000;

/** Begins no other file, has what runs end in order, and removes what it leaves. */
const stop = async (): Promise<void> => {
  const { vitest } = running;
  // Whoever waits for what is ended here fails by it.
  process.on('uncaughtException', () => undefined);
  void vitest?.cancelCurrentRun('keyboard-input');
  endChildren('SIGTERM');
  await Promise.race([vitest?.close(), pause(patienceMs)]);
};

/** Runs a tool of ours with this Node; what it said is only shown where it fails, of which the line is given back. */
const check = (name: string, tool: string, args: readonly string[]): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const begin = performance.now();
    const child = spawn(process.execPath, [path.join(root, 'node_modules', tool), ...args], { cwd: root });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      say(name, code === 0, begin);
      if (code !== 0) console.log(Buffer.concat(chunks).toString());
      resolve(code === 0 ? [] : [`failed: ${name}`]);
    });
  });

const usage = `Usage: npm test -- [file…] [-t <name>] [--bail <n>] [--maxWorkers <n>] [--shard <n>/<of>] [--project <name>…]
Runs lint, types and every test but the long ones, or those in files whose paths have such a part. test:long, test:bundled,
test:webhooks and test:deploy run others, and take the same.
  -t, --testNamePattern  tests alone whose names match
  --bail                 ends after so many failures
  --maxWorkers           files at the same time
  --shard                a part of all files, such as 1/2
  --project              unit, integration, infra, long, bundled, bundled-rest, deploy
Vitest itself has more: node node_modules/vitest/vitest.mjs run --help`;

/** More threads of the compiler each infer the same types, for which two cores beside the tests have no time. */
const alone = ['--singleThreaded'];

const quickProjects = ['unit', 'integration', 'infra'];

/** A run of one project that takes minutes: no lint and types, and every test is named when it is over. */
const isLong = ['--project=long', '--project=bundled', '--project=deploy'].some((argument) =>
  process.argv.includes(argument),
);

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /**
   * The tests that were not run and what failed, a line each, with why: what is read of a log of which the end was
   * kept.
   */
  readonly lines: readonly string[];
}

const firstLine = (error: { readonly message: string } | undefined): string => error?.message.split('\n', 1)[0] ?? '';

const skippedLines = (test: TestCase): string[] => {
  const { state, note } = test.result() as { readonly state: string; readonly note?: string };
  const isSkipped = state === 'skipped' && note !== undefined;
  return isSkipped ? [`skipped: ${test.module.relativeModuleId} > ${test.fullName}: ${note}`] : [];
};

const failedLines = (test: TestCase): string[] => {
  const { state, errors } = test.result();
  const place = `${test.module.relativeModuleId} > ${test.fullName}`;
  return state === 'passed' || state === 'skipped' ? [] : [`failed: ${place}: ${firstLine(errors?.[0]) || state}`];
};

/**
 * Runs vitest with its own arguments; files that cannot be run and failures outside of any test count as failed tests.
 */
const runTests = async (args: readonly string[]): Promise<Outcome> => {
  const begin = performance.now();
  const { parseCLI, startVitest } = await import('vitest/node');
  const { filter, options } = parseCLI(['vitest', 'run', ...args]);
  const project = options.project ?? (filter.length > 0 ? [...quickProjects, 'long'] : quickProjects);
  const vitest = await startVitest('test', filter, {
    // Tests of the stack wait for it a third of their time, which two workers more than there are cores fill.
    maxWorkers: isLong ? 2 : 4,
    ...options,
    project,
    root,
    reporters: [
      isLong ? 'verbose' : 'dot',
      {
        onInit: (begun) => {
          running.vitest = begun;
        },
      },
    ],
  });
  const modules = vitest.state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const outside = [...vitest.state.getUnhandledErrors(), ...suites.flatMap((suite) => suite.errors())];
  await vitest.close();
  const passed = tests.filter((test) => test.result().state === 'passed').length;
  const skipped = tests.flatMap(skippedLines);
  const failed = [
    ...tests.flatMap(failedLines),
    ...outside.map((error) => `failed: outside of any test: ${firstLine(error as Error)}`),
  ];
  const ok = failed.length === 0 && passed + skipped.length > 0;
  say('tests', ok, begin);
  return { passed, failed: ok ? 0 : Math.max(failed.length, 1), lines: [...skipped, ...failed] };
};

requireNode();
readArguments(usage, {
  allowPositionals: true,
  options: {
    testNamePattern: { type: 'string', short: 't' },
    bail: { type: 'string' },
    maxWorkers: { type: 'string' },
    shard: { type: 'string' },
    project: { type: 'string', multiple: true },
  },
});
// However this ends: Vitest has a way of its own at the same signals.
process.on('exit', () => endChildren('SIGKILL'));
stopWhenAsked(() => {
  const end = (): never => process.exit(1);
  stop().then(end, end);
});
if (!process.stdout.isTTY) process.env.NO_COLOR = '1';
// Hundreds of processes load the same modules: what Node compiled once is kept for all of them.
process.env.NODE_COMPILE_CACHE ??= path.join(root, 'node_modules/.cache/basalt/compiled');
const checks = isLong
  ? []
  : [
      check('lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
      check('types', 'typescript/bin/tsc', [...alone, '-p', '.']),
      check('pages', 'typescript/bin/tsc', [...alone, '-p', 'console']),
      check('client', 'typescript/bin/tsc', [...alone, '-p', 'client']),
    ];
const tests = await runTests(process.argv.slice(2));
const failedChecks = (await Promise.all(checks)).flat();
const failed = tests.failed + failedChecks.length;
for (const line of [...tests.lines, ...failedChecks]) console.log(line);
console.log(`${tests.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
