import { offline } from '../api/ask.ts';
import { t } from '../text/words.ts';

/** Says that the service does not answer, as long as it does not. */
export const OfflineLine = () =>
  offline.value ? (
    <p class="line" role="alert">
      {t.offline}
    </p>
  ) : null;
