import { t } from '../../text/words.ts';
import type { qrOutline } from './qr-outline.ts';

/** Dark on light in every theme, so that cameras can read it. */
export const QrCode = ({ outline, size }: ReturnType<typeof qrOutline>) => (
  <svg
    class="qr-code"
    viewBox={`0 0 ${size} ${size}`}
    role="img"
    aria-label={t.factor.qrCode}
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
    <path fill="#000" d={outline} />
  </svg>
);
