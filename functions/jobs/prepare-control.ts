export { prepareControl as handler } from '../../shared/control-indexes.ts';
