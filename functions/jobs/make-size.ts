/** Called by the origin of files for a missing image variant. */
export { respondWithVariant as handler } from '../../shared/files/images/make.ts';
