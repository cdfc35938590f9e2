import { answerSize, type SizeRequest } from '../../shared/files/sizes/answer-size.ts';

/** What the origin of files asks by its own address where a size of a picture is not there yet. */
export const handler = (request: SizeRequest): ReturnType<typeof answerSize> => answerSize(request);
