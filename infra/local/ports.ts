import { createServer, type Server } from 'node:net';
import { StartProblem } from './problem.ts';

const loopback = '127.0.0.1';

/** Where a server of this machine is. */
export const originAt = (port: number): string => `http://${loopback}:${port}`;

const portTaken = (port: number, setting: string): StartProblem =>
  new StartProblem(
    `Port ${port} is taken by another program. Choose another one, for example PORT=${port >= 60_000 ? 4100 : port + 100} npm start` +
      (setting === 'PORT' ? '.' : ` (${setting} follows PORT).`),
  );

/** Listens on loopback, on `port` or (0) any free one; returns the port. Taken → `StartProblem` naming the setting. */
export const listen = (server: Server, port: number, setting = 'PORT'): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? portTaken(port, setting)
          : error.code === 'EACCES'
            ? new StartProblem(`Port ${port} needs administrator rights. Choose one above 1023, for example PORT=4000.`)
            : error,
      ),
    );
    server.listen(port, loopback, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });

/** Ports that this process has given out: the system may draw one again that its new owner has not taken yet. */
const given = new Set<number>();

/**
 * Takes a port for a moment: a free one (0) that was never given out before, or the given one to see that nobody has
 * it.
 */
export const probePort = async (port: number, setting?: string): Promise<number> => {
  const server = createServer();
  const taken = await listen(server, port, setting);
  await new Promise((resolve) => server.close(resolve));
  if (port === 0 && given.has(taken)) return probePort(0);
  given.add(taken);
  return taken;
};

/** `port` where nobody has it, else any free one; always a free one for 0 and for what is no port. */
export const preferPort = async (port: number): Promise<number> => {
  try {
    return await probePort(port > 65_535 ? 0 : port);
  } catch {
    return probePort(0);
  }
};

/** The port at a place after that of the public API, where a part stays from one start to the next; any for 0. */
export const portAfter = (port: number, place: number): number => (port === 0 ? 0 : port + place);

/** Starts what listens on ports that were looked for; twice more where another program took one of them meanwhile. */
export const onFreePorts = async <T>(start: () => Promise<T>, tries = 3): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    const isRaced = error instanceof StartProblem && /Port \d+ is taken/.test(error.message);
    if (!isRaced || tries === 1) throw error;
    return onFreePorts(start, tries - 1);
  }
};
