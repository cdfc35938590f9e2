import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { startMongo } from '../../infra/local/mongo/engine.ts';
import { plainEnvironment } from '../support/clients/plain-environment.ts';
import { account, awsEnvironment, type Emulator, region, startEmulator } from './emulator.ts';

const root = resolve(import.meta.dirname, '../..');

/** The files of a clone that a deployment reads. */
const needed = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'client',
  'console',
  'docs',
  'functions',
  'infra',
  'shared',
  'scripts',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** Lines of the CDK that say how far it is, or what went wrong. */
const worthSaying = /✅|❌|🚨|failed|FAILED|Error|Bundled|would be lost|is deployed/;

/** An operator's folder, and the account that they deploy to. */
export interface Rehearsal {
  readonly emulator: Emulator;
  readonly mongoUri: string;
  /** Runs `npm …` or a command of a package there and returns its output. Throws the output if the command fails. */
  command(line: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Prepares the account for the CDK, from a folder that has nothing to read first. */
  bootstrap(): Promise<void>;
  stop(): Promise<void>;
}

const begin = performance.now();

/** Shows how far it is. */
export const say = (line: string): void => {
  const seconds = Math.round((performance.now() - begin) / 1000);
  process.stdout.write(`  ${String(seconds).padStart(4)} s  ${line}\n`);
};

const npm = (): readonly string[] => {
  const running = process.env.npm_execpath;
  return running?.endsWith('npm-cli.js') ? [process.execPath, running] : ['npm'];
};

const runIn = (folder: string, line: readonly string[], env: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((done, fail) => {
    const [command = '', ...args] = line;
    const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said: string[] = [];
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (text) => {
        said.push(text);
        if (worthSaying.test(text)) say(text.trim());
      });
    }
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done(said.join('\n'));
      else fail(new Error([`${args.join(' ')} ended with ${code}`, ...said.slice(-40)].join('\n')));
    });
  });

/**
 * A folder as a fresh clone has it (with the packages of this one), a MongoDB, and an empty account of AWS. Nothing
 * there knows of this machine's own account, profiles or `deployments.json`.
 */
export const startRehearsal = async (python: string): Promise<Rehearsal> => {
  const folder = await mkdtemp(join(tmpdir(), 'basalt-rehearsal-'));
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const one of stops.toReversed()) await one();
  };
  try {
    // Keeps the time of change, because a newer lock file would start another installation.
    for (const name of needed) {
      await cp(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true });
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const mongo = await startMongo(join(folder, 'mongo'), undefined, { report: say, onExit: say });
    stops.push(mongo.stop);
    const emulator = await startEmulator(python, join(folder, 'invoked'));
    stops.push(emulator.stop);
    say('the emulator and MongoDB are up');
    const empty = join(folder, 'empty');
    await mkdir(empty);
    const programs = join(folder, 'node_modules/.bin');
    const common = {
      ...plainEnvironment(),
      ...awsEnvironment(emulator.address),
      PATH: [programs, process.env.PATH].join(delimiter),
      HOME: folder,
      CI: 'true',
      NO_COLOR: '1',
    };
    return {
      emulator,
      mongoUri: mongo.address,
      command: ([program = '', ...args], env = {}) => {
        say(`${program} ${args.join(' ')}`);
        const line = program === 'npm' ? npm() : [join(programs, program)];
        return runIn(folder, [...line, ...args], { ...common, ...env });
      },
      bootstrap: async () => {
        await runIn(empty, [join(programs, 'cdk'), 'bootstrap', `aws://${account}/${region}`], common);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
