/**
 * How often cl100k_base splits a word between two letters, counted over English, French, German, Spanish, Italian,
 * Dutch, Portuguese and Polish prose and source code.
 *
 * One character a figure: [first letter][second letter][word length up to 4, up to 8, more]; letters are a to z, any
 * Latin letter beyond ASCII, and a capital after a small letter. The figure is the square root of the frequency.
 */
const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const COUNTED =
  "lBO614147143lgCf6b2234akgej68k394143212013hqpr47nUH122025121bek12i738249127348FPxwBTblqltKcqIbcR4dmq" +
  "CLMeO9FK6qnh6akzllfhhrzttx8jhMnk9gm9fjmqkdCt8ev9ju9yB9gm1bcKksCrLBAx8ivlkmiev5uhm7cqRMsBq124gurSUy22" +
  "3e79delprl287culoKwaegup9212erpfql9io9MJ7kaiuFjQD9pL5jz5qNeAD58g2eldxS7rChBw5rshaggEGntDpCCaIF9kkoLS" +
  "8tmbsujhpisy9rvywoioQfom3nm9yIrtGvXY5dmlmtedi13cboH7fojcAlsBkCKiBAcoy4af26d1335fE8mn2a9111133257iAFa" +
  "tE17521419b5CMrRTqQVbmq8zvihrnKQ9mp483FCPApJ4jnqrG9ezfhrhClbDA38b5nm9go2okHmB56iben9godKK8gm94b9yRdu" +
  "pHVJlsy5DPahokyS1fk9fB3kp37htmx9gmonKjrzBto6bd8ntoGD9jmeeq9eummscqtHmA6sD9jru8c4jlyPNqEU3mw9fNctoxtI" +
  "1cqegLyqOhip4ly9gm9dIjJMrGoioIefm6qs9gTokIdfJ6dfhvx8rv9hM9gm4fxjyCnNUCTWafm2342121324cg832212rij8gE2" +
  "57265132112001d5b4lm8ac1431210318CE332oKH86e9xI343hFPUtVfmA9om9zP8jRhdq9Jy9zzkommjcigm9kh9Bl9un2sO7q" +
  "tqrm9gmJDx2Os9vBgisixUrnv9gmeom9DSbAg9wq7pEeQPopDgfp5ov9zs2rF7qEhqn9Bs9WX9iFeNCbeucsyDvE9gl9GL8fzxkt" +
  "drKMfm8BI9gmjgk9wRkvLvOY6kulrwiBD4af29f9fElNOizOcnx9gmHDs19a4DPINL9bi9bCxEVhmEcfmifqdooNtvzbPkgmh43f" +
  "rCMOVooV5hr6dn8xg4vr4dh8hiwMU9Crjnwunm8hp4PDFqniix5dohfs9omiRBggvmHP7mseou8AMjfm2qqSjFuFN9KV5ly7IT7f" +
  "h2584hpnso2469ABdsr8jh3lEdlHuJq8vD8hukCOrzKvPT19h165csHjnqjQMHeu5gnDPJeIS9TX6eh99dpff336mHR2mie99aqs" +
  "ahrdli25b1663330129ll3ad9JD04329575b2435ch1245eekocgPOtJK4mB6ehbHzctC6oz6eizEEixW667msw9xwTvs77cfBxm" +
  "Hz79cgff9op7a95hl535deptqEeoCsgm78b9WPiMB9RX8yS9fm9om9jotzO9gmggmIvqfqQ9go9gm9gm9CmjGm9AR9rmermhgj99" +
  "h9dm4699gm9gm9gm9gmogm9gmzQJelu6wR7in4cn37cgEx9iu9CTfhm9iAkrE4rF8fi8hi4edKwA8DJ8lnjai46ecoAbjgzABdgm" +
  "537rOStMO9RU8vB7MNsiyjzJ2ejnPAnPO2695mq9Pr9lHMmCigu3hM5kq7fr6CMaKQk9d111eisenWvjFcet5axkHMlQOAMIctCy" +
  "CUc6pjsD5iorrwnLV01aato9yy6oLbnFfSvEEF3jlikD9Br2gj6imghzGlBeQV6oO8dj6biqzFnJM9RPuhfp846c6k5i6bk6pg35" +
  "7qot9pwApq6am2632331228Aw2bkgIm122236112ezw8wHAKT33e6ag7wGxJJ9wm6jn8gpsnm7gmcb9ilm9mm9jmelv9gm9gmsmy" +
  "5vmNgmfpz8gm9gmDGysEt8gm8yG7GF5gk9gm8bm9jmxBx9rm8kt8oz9CnmlD6iloly8gm12t6jBgrm8njwFh9gr3ho4dpouz9gmm" +
  "al3hj8zpdiMegv4gm9dgjukohp8AWoNSpqFgkqnnlmkynvc7LK9Em9fjkrq9gm9gm9Hm9Hm9omANA668nrmjBDkom28699kkgm9g" +
  "mBaf8ikQRmwRSmGK6EuxqE8hk9GA2ikgqN9pE9gmogmDEK9GG8cn7lf4ab1fF2a99om9qp69f4gp9nm9Ds9HKqgmadm9tsuOSEOT" +
  "fuzdCy9QB9LG6rp9Dm9OA9gxhBA9gm9gl9NLYQN6sELHW9gB9gmqkAHAw9oz9yHogztJF9gm6qs6zdyssvvz9BO6DQhHEtDwwfdq" +
  "DJAJG9xh9tPdgl9uCkvGcvFivu4cb9JP9MO6rpgljkuBiENqrg9eJ9wo6sg9zAHxiDNGybcogg8a998a4868m88me7977p89Ao9f" +
  "j9cg9nb9878j78899b795587a9749ib9rqtqmmia9949vougm9gm";

export const LETTER_CLASSES = 28;
export const LENGTH_CLASSES = 3;

/** Frequencies 0 to 1, indexed `(first * LETTER_CLASSES + second) * LENGTH_CLASSES + length`. */
export const splitFrequencies: Float64Array = Float64Array.from(
  COUNTED,
  (digit) => (ALPHABET.indexOf(digit) / (ALPHABET.length - 1)) ** 2,
);
