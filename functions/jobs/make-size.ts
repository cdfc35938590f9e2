/** What the origin of files asks by its own address where a size of a picture is not there yet. */
export { answerSize as handler } from '../../shared/files/images/make.ts';
