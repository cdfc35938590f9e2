import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Tells the benchmark where this contender listens, then what it asks; ends with it. `commands` empties what was noted.
 */
export const answerMain = (server: Server, commands: () => readonly string[] = () => []): void => {
  process.on('message', (question) => {
    if (question === 'commands') process.send?.({ commands: commands() });
    if (question === 'cpu') process.send?.({ cpu: process.cpuUsage() });
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port: (server.address() as AddressInfo).port });
};
