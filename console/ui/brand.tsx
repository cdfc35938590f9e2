import { t } from '../text/words.ts';

export const Brand = () => (
  <a class="brand" href="/">
    <svg viewBox="0 0 18 18" aria-hidden="true">
      <path fill="currentColor" d="M9 1 17 16H1z" />
    </svg>
    {t.brand}
  </a>
);
