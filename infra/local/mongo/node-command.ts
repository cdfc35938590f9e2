import { StartProblem } from '../problem.ts';
import { newerLibc } from './newer-libc.ts';

/** The oldest glibc that the engine supports. */
const neededGlibc = [2, 38] as const;

const glibcVersion = (): string | undefined => {
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
};

const isRecent = (version: string | undefined): boolean => {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > neededGlibc[0] || (major === neededGlibc[0] && minor >= neededGlibc[1]);
};

const engineProblem = (reason: string, cause?: unknown): StartProblem =>
  new StartProblem(
    `The MongoDB engine in the packages cannot run on this machine: ${reason}\n` +
      'Start a MongoDB of your own, for example:\n' +
      '  docker run -d -p 27017:27017 mongo:8\n' +
      'Then start Basalt with its address:\n' +
      '  MONGODB_URI=mongodb://127.0.0.1:27017 npm start',
    { cause },
  );

/**
 * Returns the command that starts Node such that the MongoDB engine can be loaded: Node itself, or Node with a newer C
 * library. Throws `StartProblem` if neither works.
 */
export const nodeCommand = async (report: (step: string) => void): Promise<readonly [string, ...string[]]> => {
  if (process.platform === 'darwin' && process.arch === 'arm64') return [process.execPath];
  if (process.platform !== 'linux') throw engineProblem('it supports Linux, and macOS on Apple silicon.');
  if (isRecent(glibcVersion())) return [process.execPath];
  const libc = await newerLibc(report).catch((error: unknown) => {
    const { stderr } = error as { readonly stderr?: string };
    throw engineProblem(
      `it needs glibc ${neededGlibc.join('.')}, which could not be downloaded.\n${(stderr ?? '').trim()}`.trim(),
      error,
    );
  });
  if (!libc) throw engineProblem(`it needs glibc ${neededGlibc.join('.')} or later.`);
  return [libc.loader, '--library-path', libc.libraries, process.execPath];
};
