import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Reports this contender's address to the benchmark and answers its messages; `commands` returns and clears the
 * recorded commands. Ends with the benchmark.
 */
export const answerMain = (server: Server, commands: () => readonly string[] = () => []): void => {
  process.on('message', (question) => {
    if (question === 'commands') process.send?.({ commands: commands() });
    if (question === 'cpu') process.send?.({ cpu: process.cpuUsage() });
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port: (server.address() as AddressInfo).port });
};
