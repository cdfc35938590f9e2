import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';

/** What a command sees of its surroundings. Tests replace it. */
export interface Terminal {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns a signal that ends a command that watches; without it, Ctrl+C ends the process. */
  readonly onInterrupt: () => AbortSignal;
  /** True if standard input and standard error are a terminal, so questions can be asked. */
  readonly isInteractive: boolean;
  /** Reads standard input to its end, or one line of a terminal. */
  readonly readInput: (prompt: string) => Promise<string>;
  /** True if the answer begins with y. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Writes the result of the command. */
  readonly print: (text: string) => void;
  /** Writes a piece of a long result, and waits until it is accepted. */
  readonly write: (piece: Uint8Array) => Promise<void>;
  /** Writes a message beside the result. */
  readonly note: (text: string) => void;
  /** Replaces the last line of progress; writes nothing if there is no terminal. */
  readonly progress: (text: string) => void;
  readonly color: (name: 'green' | 'red' | 'yellow', text: string) => string;
}

/** An error with a message for the user. `code` is that of the API's response, if one caused it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

const { stdin, stdout, stderr } = process;

const readAll = async (): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
};

const readLine = async (prompt: string): Promise<string> => {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return await lines.question(prompt);
  } finally {
    lines.close();
  }
};

/** Reads a secret without showing it. */
const readHidden = (prompt: string): Promise<string> =>
  new Promise((resolve, reject) => {
    stderr.write(prompt);
    stdin.setRawMode(true);
    let text = '';
    const end = (): void => {
      stdin.off('data', onData);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
    };
    const onData = (chunk: Buffer): void => {
      for (const character of chunk.toString('utf8')) {
        if (character === '\r' || character === '\n' || character === '\u0004') {
          end();
          resolve(text);
          return;
        }
        if (character === '\u0003') {
          end();
          reject(new CommandError('Cancelled.'));
          return;
        }
        text = character === '\u007f' ? text.replace(/.$/su, '') : text + character;
      }
    };
    stdin.on('data', onData);
    stdin.resume();
  });

const hasColor = stdout.isTTY === true && !process.env.NO_COLOR;
const clearLine = '\r\u001b[K';

/** A second interrupt ends the process. */
const interrupted = (): AbortSignal => {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  return controller.signal;
};

/** The terminal of this process. */
export const processTerminal = (): Terminal => {
  let hasProgress = false;
  const endProgress = (): void => {
    if (hasProgress) stderr.write(clearLine);
    hasProgress = false;
  };
  return {
    folder: process.cwd(),
    env: process.env,
    onInterrupt: interrupted,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    readInput: (prompt) => (stdin.isTTY ? readHidden(prompt) : readAll()),
    confirm: async (question) => /^y/i.test(await readLine(`${question} (y/N) `)),
    print: (text) => {
      endProgress();
      stdout.write(text);
    },
    write: async (piece) => {
      endProgress();
      if (!stdout.write(piece)) await once(stdout, 'drain');
    },
    note: (text) => {
      endProgress();
      stderr.write(`${text}\n`);
    },
    progress: (text) => {
      if (!stderr.isTTY) return;
      stderr.write(`${clearLine}${text}`);
      hasProgress = true;
    },
    color: (name, text) => (hasColor ? styleText(name, text) : text),
  };
};
