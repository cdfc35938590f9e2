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
 * Publishes the commands that a client sends, for tests to count, and returns the client. `initialize` publishes each
 * call once, `deserialize` each attempt, and never a call that only signs a URL.
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
