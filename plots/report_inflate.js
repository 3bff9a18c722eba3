/* The bytes of base64 of a zlib stream (RFC 1950, RFC 1951). In the page itself: at once, and in any browser. */
const lengthBase = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const lengthExtra = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const distanceBase = Array.from({ length: 30 }, (_, i) => (i < 4 ? i + 1 : ((2 + i % 2) << (i >> 1) - 1) + 1));
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/* A table over the next `most` bits of the stream: symbol * 16 + length of its code, whose first bit comes lowest. */
function codeTable(lengths) {
  const most = Math.max(1, ...lengths), table = new Uint16Array(1 << most);
  for (let length = 1, code = 0; length <= most; length++, code <<= 1)
    lengths.forEach((own, symbol) => {
      if (own !== length) return;
      let at = 0;
      for (let k = 0; k < length; k++) if (code >> k & 1) at |= 1 << length - 1 - k;
      for (; at < table.length; at += 1 << length) table[at] = symbol << 4 | length;
      code++;
    });
  return { most, table };
}

function inflate(text) {
  const raw = atob(text), from = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) from[i] = raw.charCodeAt(i);
  let out = new Uint8Array(Math.max(1 << 16, 4 * raw.length)), n = 0, at = 2, hold = 0, held = 0;
  const fill = (wanted) => { while (held < wanted) { hold |= from[at++] << held; held += 8; } };
  const bits = (wanted) => { fill(wanted); const value = hold & (1 << wanted) - 1; hold >>>= wanted; held -= wanted; return value; };
  const symbol = ({ most, table }) => { fill(most); const entry = table[hold & (1 << most) - 1]; hold >>>= entry & 15; held -= entry & 15; return entry >> 4; };
  const room = (more) => { if (n + more <= out.length) return; const larger = new Uint8Array(2 * (n + more)); larger.set(out); out = larger; };
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) { /* stored: from the next whole byte on */
      at -= held >> 3;
      hold = held = 0;
      const size = from[at] | from[at + 1] << 8;
      room(size);
      out.set(from.subarray(at + 4, at + 4 + size), n);
      at += 4 + size;
      n += size;
      continue;
    }
    let literals, distances;
    if (kind === 1) {
      literals = codeTable(Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)));
      distances = codeTable(new Array(30).fill(5));
    } else {
      const count = bits(5) + 257, all = count + bits(5) + 1, few = bits(4) + 4, short = new Array(19).fill(0), lengths = [];
      for (let i = 0; i < few; i++) short[lengthOrder[i]] = bits(3);
      const code = codeTable(short);
      while (lengths.length < all) {
        const s = symbol(code), times = s < 16 ? 1 : s === 16 ? 3 + bits(2) : s === 17 ? 3 + bits(3) : 11 + bits(7);
        const value = s < 16 ? s : s === 16 ? lengths[lengths.length - 1] : 0;
        for (let i = 0; i < times; i++) lengths.push(value);
      }
      literals = codeTable(lengths.slice(0, count));
      distances = codeTable(lengths.slice(count));
    }
    for (let s = symbol(literals); s !== 256; s = symbol(literals)) {
      room(258);
      if (s < 256) { out[n++] = s; continue; }
      const length = lengthBase[s - 257] + bits(lengthExtra[s - 257]), d = symbol(distances);
      const back = distanceBase[d] + bits(d < 4 ? 0 : (d >> 1) - 1);
      for (let i = 0; i < length; i++, n++) out[n] = out[n - back];
    }
  }
  return out.subarray(0, n);
}
