import { StartProblem } from '../problem.ts';
import { newerLibc } from './newer-libc.ts';

/** The oldest glibc the engine runs on. */
const needed = [2, 38] as const;

const glibcVersion = (): string | undefined => {
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
};

const isRecent = (version: string | undefined): boolean => {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
};

const instead = (why: string, cause?: unknown): StartProblem =>
  new StartProblem(
    `The MongoDB engine that comes with Basalt cannot run here: ${why}\n` +
      'Start a MongoDB of your own, for example with\n' +
      '  docker run -d -p 27017:27017 mongo:8\n' +
      'and name it:\n' +
      '  MONGODB_URI=mongodb://127.0.0.1:27017 npm start',
    { cause },
  );

/**
 * The command, without the script, that runs Node so that the MongoDB engine can be loaded: Node itself, or Node
 * through a newer C library. Where neither works, a `StartProblem` names `MONGODB_URI`.
 */
export const howToRun = async (report: (step: string) => void): Promise<readonly [string, ...string[]]> => {
  if (process.platform === 'darwin' && process.arch === 'arm64') return [process.execPath];
  if (process.platform !== 'linux') throw instead('it is made for Linux, and for macOS on Apple silicon.');
  if (isRecent(glibcVersion())) return [process.execPath];
  const libc = await newerLibc(report).catch((error: unknown) => {
    const { stderr } = error as { readonly stderr?: string };
    throw instead(
      `it needs glibc ${needed.join('.')}, which could not be fetched.\n${(stderr ?? '').trim()}`.trim(),
      error,
    );
  });
  if (!libc) throw instead(`it needs glibc ${needed.join('.')} or later.`);
  return [libc.loader, '--library-path', libc.libraries, process.execPath];
};
