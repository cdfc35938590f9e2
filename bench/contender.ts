import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Target } from './load.ts';
import type { NoiseCounts, NoiseOrder } from './noise.ts';
import type { Backing } from './processes.ts';

interface Message {
  readonly port?: number;
  readonly cpu?: NodeJS.CpuUsage;
  readonly commands?: readonly string[];
  readonly counts?: NoiseCounts;
}

/** A measured server in a process of its own. */
export interface Contender extends Target {
  readonly name: string;
  /** The database commands since the last call; empty unless it records them. */
  readonly commands: () => Promise<readonly string[]>;
  readonly stop: () => void;
}

/** A server that can also create load, like `noise-sender.ts`. */
export interface NoisyContender extends Contender {
  /** Starts or stops a load and returns its progress. */
  readonly noise: (order: NoiseOrder) => Promise<NoiseCounts>;
}

/** The next message of a contender; throws if it ends instead. */
const answerOf = async (name: string, child: ChildProcess): Promise<Message> => {
  const over = new AbortController();
  const options = { signal: over.signal };
  const ended = once(child, 'exit', options).then(([code, signal]) => {
    throw new Error(`${name} ended (${String(signal ?? `exit code ${String(code)}`)}) instead of answering`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', options), ended])) as [Message];
    return message;
  } finally {
    ended.catch(() => undefined);
    over.abort();
  }
};

/** Starts `bench/<file>` and waits until it listens. */
export const startContender = async (
  name: string,
  file: string,
  env: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
  backing: Backing | undefined = undefined,
  options: ForkOptions = {},
): Promise<NoisyContender> => {
  const child = fork(path.join(import.meta.dirname, file), { ...options, env: { ...process.env, ...env } });
  const { port } = await answerOf(name, child);
  const ask = (question: 'cpu' | 'commands' | NoiseOrder): Promise<Message> => {
    child.send(question);
    return answerOf(name, child);
  };
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    headers,
    backing,
    commands: async () => (await ask('commands')).commands ?? [],
    noise: async (order) => (await ask(order)).counts ?? { done: 0, refused: 0 },
    cpu: async () => {
      const { cpu } = await ask('cpu');
      return (cpu?.user ?? 0) + (cpu?.system ?? 0);
    },
    stop: () => void child.disconnect(),
  };
};
