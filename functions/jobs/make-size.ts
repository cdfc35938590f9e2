/** Called by the origin of files for a missing image variant. */
export { answerSize as handler } from '../../shared/files/images/make.ts';
