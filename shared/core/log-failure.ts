import { isOurs } from './errors.ts';
import { describeError, log } from './log.ts';

/** Logs what a job could not do: as an error, which raises an alarm, where the failure is ours, else as a warning. */
export const logFailure = (fields: Readonly<Record<string, unknown>>, error: unknown): void => {
  const line = { ...fields, error: describeError(error) };
  if (isOurs(error)) log.error(line);
  else log.warn(line);
};
