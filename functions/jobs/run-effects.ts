import { runDueEffects } from '../../shared/documents/effects/run-effects.ts';

export const handler = async (): Promise<{ readonly collections: number }> => ({ collections: await runDueEffects() });
