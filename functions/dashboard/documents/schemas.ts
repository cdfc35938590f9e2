import { Document } from '../../data/schemas.ts';
import { success } from '../../schemas.ts';

/** One document, in the envelope of the dashboard. */
export const DocumentAnswer = success(Document);
