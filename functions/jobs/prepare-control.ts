import { prepareControl } from '../../shared/projects/removal/control-indexes.ts';

/** Runs in each deployment, before anything is served: makes the indexes of the control database. */
export const handler = (): Promise<void> => prepareControl();
