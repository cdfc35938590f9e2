import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { descendantsOf } from '../support/clients/local-start.ts';
import { type Entry, entriesOf, note } from './journal.ts';
import { type Mutant, root } from './mutants.ts';
import type { Order } from './repeating.ts';
import { switchOf, withSwitches } from './switched.ts';

/** A run without a new entry for this time is ended: a mutant blocks the process, or a file cannot be loaded. */
const maxSilenceSeconds = (last: Entry | undefined): number =>
  last?.state === 'begun' && last.file.startsWith('test/shared/') ? 60 : 240;

/** Copies the working tree to a temporary folder, with all mutants in it, switched off. */
const copyTree = (mutants: readonly Mutant[]): string => {
  const copy = mkdtempSync(path.join(tmpdir(), 'basalt-mutants-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of globSync(listed.trim().split('\n'), { cwd: root }))
    cpSync(path.join(root, file), path.join(copy, file));
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const define = switchOf(path.join(copy, 'switch'), path.join(copy, 'reached'));
  for (const [file, own = []] of Object.entries(Object.groupBy(mutants, (mutant) => mutant.file))) {
    const text = readFileSync(path.join(root, file), 'utf8');
    writeFileSync(path.join(copy, file), `${define} ${withSwitches(text, own)}`);
  }
  const config = readFileSync(path.join(root, 'vitest.config.ts'), 'utf8');
  const repeating = JSON.stringify(path.join(copy, 'test/mutants/repeating.ts'));
  writeFileSync(
    path.join(copy, 'vitest.config.ts'),
    config.replace(/name: '(?:unit|integration|long)',/g, `$& runner: ${repeating},`),
  );
  for (const empty of ['switch', 'reached', 'journal']) writeFileSync(path.join(copy, empty), '');
  return copy;
};

const killAll = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null) return;
  for (const pid of [...descendantsOf(child.pid), child.pid]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended together with its parent.
    }
  }
};

/** Runs tests on a copy of the working tree. */
export class Laboratory {
  readonly #copy: string;
  #child: ChildProcess | undefined;
  readonly #passes = new Map<string, boolean>();

  constructor(mutants: readonly Mutant[]) {
    this.#copy = copyTree(mutants);
  }

  #in(file: string): string {
    return path.join(this.#copy, file);
  }

  get entries(): readonly Entry[] {
    return entriesOf(this.#in('journal'));
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(this.#in('test/mutants/runner.ts'), {
      cwd: this.#copy,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/basalt/compiled') },
    });
    child.stderr?.resume();
    this.#child = child;
    await once(child, 'message');
    return child;
  }

  /** Ends the runner and its stack; the next run starts new ones. */
  restart(): void {
    if (this.#child) killAll(this.#child);
    this.#child = undefined;
  }

  /** The first failure of a run of files, `undefined` without one, and `no end` if the run was ended here. */
  async #run(files: readonly string[], until: number, watch: (entries: readonly Entry[]) => void): Promise<unknown> {
    const child = this.#child ?? (await this.#start());
    child.send(files);
    const response = Promise.race([
      once(child, 'message').then(([{ failed }]) => ({ failed })),
      once(child, 'exit').then(() => ({ failed: 'the runner ended' })),
    ]);
    let seen = 0;
    let quietSince = performance.now();
    for (;;) {
      const ended = await Promise.race([response, wait(1000)]);
      const { entries } = this;
      if (entries.length !== seen) quietSince = performance.now();
      seen = entries.length;
      watch(entries);
      if (ended) return ended.failed;
      if (performance.now() < Math.min(until, quietSince + maxSilenceSeconds(entries.at(-1)) * 1000)) continue;
      this.restart();
      return 'no end';
    }
  }

  /** Runs files; each test is repeated with each mutant of the order that it reaches, until a test kills the mutant. */
  async repeat(
    files: readonly string[],
    order: Order,
    until: number,
    watch: (entries: readonly Entry[]) => void,
  ): Promise<void> {
    writeFileSync(this.#in('order'), JSON.stringify(order));
    let left = files;
    // A mutant that blocks its process ends a run. The next run continues with the same file.
    for (let stops = 0; left.length > 0 && stops < 100 && performance.now() < until; stops++) {
      const failed = await this.#run(left, until, watch);
      const last = this.entries.at(-1);
      if (failed !== undefined) this.restart();
      if (failed === 'no end' && last?.state === 'begun' && performance.now() < until)
        note(this.#in('journal'), { ...last, state: 'timeout' });
      const done = new Set(this.entries.flatMap(({ state, file }) => (state === 'done' ? [file] : [])));
      const stopped = this.entries.findLast(({ state }) => state === 'timeout')?.file;
      left = left.filter((file) => !done.has(file) && (failed === 'no end' || file === stopped));
    }
    rmSync(this.#in('order'));
  }

  /** The first failure of a file that runs with a mutant from its start, if it passes without one. */
  async whole({ id }: Mutant, file: string, until: number): Promise<string | undefined> {
    const run = async (value: string): Promise<unknown> => {
      this.restart();
      writeFileSync(this.#in('switch'), value.padStart(8));
      return await this.#run([file], until, () => undefined);
    };
    if (!this.#passes.has(file)) this.#passes.set(file, (await run('')) === undefined);
    const failed = this.#passes.get(file) ? await run(String(id)) : undefined;
    return failed === undefined ? undefined : String(failed);
  }

  end(): void {
    this.restart();
    rmSync(this.#copy, { recursive: true, force: true });
  }
}
