import diagnostics from 'node:diagnostics_channel';

/** A command that a client sent, as published on `commandChannel`. */
export interface DatabaseCommand {
  readonly system: 'mongodb' | 'dynamodb' | 'sqs' | 's3' | 'lambda';
  readonly name: string;
  /** The driver's command document, MongoDB only. */
  readonly command?: Readonly<Record<string, unknown>>;
}

/**
 * Every database command, and every one to the queues and the file storage, is published here, so that tests can count
 * them.
 */
export const commandChannel = diagnostics.channel('basalt:command');
