import { t } from '../text/words.ts';
import { say } from './toast.tsx';

/** Puts a text on the clipboard; false where the browser does not let it, which is said. */
export const toClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    say(t.acts.notCopied);
    return false;
  }
};
