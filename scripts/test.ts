import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCase, Vitest } from 'vitest/node';
import { onStopRequest, requireNode } from '../infra/local/processes.ts';
import { descendantsOf } from '../test/support/clients/local-start.ts';
import { readArguments } from './read-arguments.ts';

/** `npm test`: lists skipped tests as `skipped: …`, failed ones as `failed: …`, and ends with `N passed, N failed`. */
const root = path.resolve(import.meta.dirname, '..');

const say = (name: string, ok: boolean, begin: number): void => {
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${name.padEnd(8)} ${ok ? 'ok' : 'FAILED'}  ${seconds} s`);
};

const running: { vitest?: Vitest } = {};

/** Sends a signal to all descendants of this process. Without `/proc`, they cannot be found. */
const endChildren = (signal: NodeJS.Signals): void => {
  if (!existsSync('/proc')) return;
  for (const pid of descendantsOf(process.pid)) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended together with its parent.
    }
  }
};

const patienceMs = 5000;

/** Cancels the run and lets running tests clean up. */
const stop = async (): Promise<void> => {
  const { vitest } = running;
  // Tests that wait for an ended process throw.
  process.on('uncaughtException', () => undefined);
  void vitest?.cancelCurrentRun('keyboard-input');
  endChildren('SIGTERM');
  await Promise.race([vitest?.close(), pause(patienceMs)]);
};

/** Runs a tool with this Node. If it fails, prints its output and returns a line for the summary. */
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
Runs the linter, the type checks and all tests except the slow ones, or only the files whose paths contain one of the
given texts. npm run test:long, test:bundled, test:webhooks and test:deploy run the other tests and take the same options.
  -t, --testNamePattern  only tests whose names match
  --bail                 stops after this many failures
  --maxWorkers           number of files that run at the same time
  --shard                one part of all files, such as 1/2
  --project              unit, integration, infra, long, bundled, bundled-rest or deploy
All options of Vitest: node node_modules/vitest/vitest.mjs run --help`;

/** On two cores, more compiler threads would only infer the same types several times. */
const alone = ['--singleThreaded'];

const quickProjects = ['unit', 'integration', 'infra'];

/** A run of several minutes: without linter and type checks, and it prints the name of each test. */
const isLong = ['--project=long', '--project=bundled', '--project=deploy'].some((argument) =>
  process.argv.includes(argument),
);

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** One line per skipped or failed test, with the reason; printed last, because logs are often cut to their end. */
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

/** Runs Vitest. Files that cannot be loaded and errors outside of tests count as failed tests. */
const runTests = async (args: readonly string[]): Promise<Outcome> => {
  const begin = performance.now();
  const { parseCLI, startVitest } = await import('vitest/node');
  const { filter, options } = parseCLI(['vitest', 'run', ...args]);
  const project = options.project ?? (filter.length > 0 ? [...quickProjects, 'long'] : quickProjects);
  const vitest = await startVitest('test', filter, {
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
// Also when Vitest itself ends the process on a signal.
process.on('exit', () => endChildren('SIGKILL'));
onStopRequest(() => {
  const end = (): never => process.exit(1);
  stop().then(end, end);
});
if (!process.stdout.isTTY) process.env.NO_COLOR = '1';
// Hundreds of processes load the same modules, so they share Node's compile cache.
process.env.NODE_COMPILE_CACHE ??= path.join(root, 'node_modules/.cache/basalt/compiled');
const checks = isLong
  ? []
  : [
      check('lint', '@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
      check('types', 'typescript/bin/tsc', [...alone, '-p', '.']),
      check('pages', 'typescript/bin/tsc', [...alone, '-p', 'console']),
      check('client', 'typescript/bin/tsc', [...alone, '-p', 'client']),
      check('cli', 'typescript/bin/tsc', [...alone, '-p', 'cli']),
    ];
const tests = await runTests(process.argv.slice(2));
const failedChecks = (await Promise.all(checks)).flat();
const failed = tests.failed + failedChecks.length;
for (const line of [...tests.lines, ...failedChecks]) console.log(line);
console.log(`${tests.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
