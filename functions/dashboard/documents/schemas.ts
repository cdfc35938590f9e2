import { success } from '../../../shared/http/schemas.ts';
import { Document } from '../../data/schemas.ts';

/** One document, in the envelope of the dashboard. */
export const DocumentAnswer = success(Document);
