import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { descendantsOf } from '../support/clients/local-start.ts';
import { type Mutant, root } from './mutants.ts';
import { switchOf, withSwitches } from './switched.ts';

/** A run of test files: the first failed test, and how long the run took. */
export interface Outcome {
  readonly failed: string | undefined;
  readonly isTimeout: boolean;
  readonly seconds: number;
}

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

/** Runs tests on a copy of the working tree, one mutant at a time. */
export class Laboratory {
  readonly #copy: string;
  #child: ChildProcess | undefined;
  #recordings = 0;

  constructor(mutants: readonly Mutant[]) {
    this.#copy = copyTree(mutants);
    this.#switch('');
  }

  #switch(value: string): void {
    writeFileSync(path.join(this.#copy, 'switch'), value.padStart(8), { flag: 'w' });
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(path.join(this.#copy, 'test/mutants/runner.ts'), {
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

  async #run(files: readonly string[], maxSeconds: number): Promise<Outcome> {
    const child = this.#child ?? (await this.#start());
    const begin = performance.now();
    child.send(files);
    const done = new AbortController();
    const [answer] = await Promise.race([
      once(child, 'message', { signal: done.signal }),
      once(child, 'exit', { signal: done.signal }).then(() => [{ failed: 'the runner ended' }]),
      new Promise<[undefined]>((resolve) => {
        const timer = setTimeout(() => resolve([undefined]), maxSeconds * 1000);
        done.signal.addEventListener('abort', () => clearTimeout(timer));
      }),
    ]).finally(() => done.abort());
    const failed = answer === undefined ? 'timeout' : (answer as { failed?: string }).failed;
    // A mutant may have ended or blocked the stack.
    if (failed !== undefined && /timeout|runner ended|ECONN|fetch failed|SERVICE_UNAVAILABLE|503/.test(failed))
      this.restart();
    return { failed, isTimeout: answer === undefined, seconds: (performance.now() - begin) / 1000 };
  }

  async withMutant({ id }: Mutant, files: readonly string[], maxSeconds: number): Promise<Outcome> {
    this.#switch(String(id));
    try {
      return await this.#run(files, maxSeconds);
    } finally {
      this.#switch('');
    }
  }

  /** Runs one file without a mutant, and returns the ids of the mutants that it reaches. */
  async record(file: string): Promise<Outcome & { readonly reached: readonly number[] }> {
    this.#recordings += 1;
    writeFileSync(path.join(this.#copy, 'reached'), '');
    this.#switch(`R${String(this.#recordings).padStart(7)}`);
    const outcome = await this.#run([file], 600);
    this.#switch('');
    const lines = readFileSync(path.join(this.#copy, 'reached'), 'utf8').split('\n');
    return { ...outcome, reached: [...new Set(lines.filter((line) => line !== '').map(Number))] };
  }

  end(): void {
    this.restart();
    rmSync(this.#copy, { recursive: true, force: true });
  }
}
