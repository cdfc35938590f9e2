import { createServer, type Server } from 'node:net';
import { StartProblem } from './problem.ts';

const loopback = '127.0.0.1';

export const originAt = (port: number): string => `http://${loopback}:${port}`;

const portTaken = (port: number, setting: string): StartProblem =>
  new StartProblem(
    `Port ${port} is used by another program. Choose another port, for example: PORT=${port >= 60_000 ? 4100 : port + 100} npm start` +
      (setting === 'PORT' ? '' : ` (${setting} is counted from PORT)`),
  );

/** Node's default of 5 s would close connections that browsers and other clients are about to reuse. */
export const keepAliveMs = 60_000;

/** Listens on loopback, on any free port for 0. Returns the port; throws `StartProblem` if it is in use. */
export const listen = (server: Server, port: number, setting = 'PORT'): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? portTaken(port, setting)
          : error.code === 'EACCES'
            ? new StartProblem(
                `Port ${port} needs administrator rights. Choose a port above 1023, for example: PORT=4000 npm start`,
              )
            : error,
      ),
    );
    server.listen(port, loopback, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });

/** The system may return a free port again before its new owner listens on it, so each is only returned once. */
const returned = new Set<number>();

/** Listens on a port for a moment to check that it is free. For 0, returns a free port that was not returned before. */
export const probePort = async (port: number, setting?: string): Promise<number> => {
  const server = createServer();
  const taken = await listen(server, port, setting);
  await new Promise((resolve) => server.close(resolve));
  if (port === 0 && returned.has(taken)) return probePort(0);
  returned.add(taken);
  return taken;
};

/** Returns `port` if it is free, otherwise any free port. */
export const preferPort = async (port: number): Promise<number> => {
  try {
    return await probePort(port > 65_535 ? 0 : port);
  } catch {
    return probePort(0);
  }
};

/** A port counted from the public API's, so that addresses stay the same after a restart; 0 stays 0. */
export const portAfter = (port: number, offset: number): number => (port === 0 ? 0 : port + offset);

/** Starts servers on ports that were free. Starts them again, at most twice, if another program has taken a port since. */
export const onFreePorts = async <T>(start: () => Promise<T>, attempts = 3): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    const isTaken = error instanceof StartProblem && /Port \d+ is used/.test(error.message);
    if (!isTaken || attempts === 1) throw error;
    return onFreePorts(start, attempts - 1);
  }
};
