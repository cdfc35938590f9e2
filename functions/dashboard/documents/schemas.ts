import { Document } from '../../data/schemas.ts';
import { success } from '../../schemas.ts';

export const DocumentAnswer = success(Document);
