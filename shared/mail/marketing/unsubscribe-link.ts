/** The provider puts each recipient's own address here, and adds the headers for one click (RFC 8058). */
const placeholder = /\{\{\{\s*RESEND_UNSUBSCRIBE_URL\s*\}\}\}/;

const footer = '<p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Unsubscribe</a></p>';

/** The HTML of a broadcast, with a link for unsubscribing at its end where it has none anywhere. */
export const withUnsubscribeLink = (html: string): string => {
  if (placeholder.test(html)) return html;
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end < 0 ? html + footer : html.slice(0, end) + footer + html.slice(end);
};
