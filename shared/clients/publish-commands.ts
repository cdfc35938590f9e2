import { commandChannel, type DatabaseCommand } from './commands.ts';

type Next = (args: never) => Promise<unknown>;

/** What all clients of the AWS SDK share, whose own types differ by the commands they know. */
interface Stack {
  add(
    middleware: (next: Next, context: { readonly commandName?: string }) => Next,
    options: { readonly step: 'initialize' | 'deserialize'; readonly name: string },
  ): void;
}

/**
 * Publishes which commands a client sends, for tests to count, and gives the client: each call with the step
 * `initialize`, each try of it with `deserialize`, which signing a URL never reaches.
 */
export const publishCommands = <Client extends { readonly middlewareStack: object }>(
  client: Client,
  system: DatabaseCommand['system'],
  step: 'initialize' | 'deserialize' = 'initialize',
): Client => {
  if (commandChannel.hasSubscribers) {
    (client.middlewareStack as Stack).add(
      (next, { commandName }) =>
        (args) => {
          commandChannel.publish({ system, name: commandName ?? '' } satisfies DatabaseCommand);
          return next(args);
        },
      { step, name: 'publishCommand' },
    );
  }
  return client;
};
