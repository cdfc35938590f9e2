import { t } from '../text/words.ts';
import { say } from './toast.tsx';

/** Copies a text. Returns false, and reports it, if the browser does not allow it. */
export const toClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    say(t.acts.notCopied);
    return false;
  }
};
