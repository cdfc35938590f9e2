/** Runs in each deployment, before anything is served: makes the indexes of the control database. */
export { prepareControl as handler } from '../../shared/control-indexes.ts';
