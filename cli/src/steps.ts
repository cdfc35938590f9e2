import { CommandError } from './terminal.ts';

/** A part of a push. */
export interface Step {
  readonly label: string;
  readonly run: () => Promise<void>;
  /** Makes room for the steps that wait for each other, and loses nothing itself. */
  readonly unblock?: () => Promise<void>;
}

/** Errors that another step can remove: a rule names a field that is not there yet, a name is not free yet. */
const mayPass: ReadonlySet<string> = new Set([
  'SCHEMA_CONFLICT',
  'INVALID_SCHEMA',
  'INVALID_RLS',
  'INVALID_EFFECT',
  'COLLECTION_NOT_FOUND',
  'CHANGES_NOT_ENABLED',
  'TEMPLATE_EXISTS',
  'INDEX_EXISTS',
]);

interface Failed {
  readonly step: Step;
  readonly error: CommandError;
}

const runOnce = async (steps: readonly Step[], onDone: (step: Step) => void): Promise<readonly Failed[]> => {
  const failed: Failed[] = [];
  for (const step of steps) {
    try {
      await step.run();
      onDone(step);
    } catch (error) {
      if (!(error instanceof CommandError) || !mayPass.has(error.code ?? '')) throw error;
      failed.push({ step, error });
    }
  }
  return failed;
};

/** Returns true if the step could make room. */
const unblock = async ({ unblock: make }: Step): Promise<boolean> => {
  if (!make) return false;
  try {
    await make();
    return true;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return false;
  }
};

/**
 * Runs the steps in an order that the service accepts: a rejected step is repeated after the others. If no step passes
 * any more, each makes room once. Throws the first error that remains.
 */
export const runSteps = async (steps: readonly Step[], onDone: (step: Step) => void): Promise<void> => {
  let pending = steps;
  let hasUnblocked = false;
  while (pending.length > 0) {
    const failed = await runOnce(pending, onDone);
    if (failed.length === pending.length) {
      const [first] = failed;
      if (hasUnblocked) throw first?.error;
      let hasRoom = false;
      for (const { step } of failed) hasRoom = (await unblock(step)) || hasRoom;
      if (!hasRoom) throw first?.error;
      hasUnblocked = true;
    }
    pending = failed.map(({ step }) => step);
  }
};
