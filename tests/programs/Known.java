// SPDX-License-Identifier: MIT OR GPL-2.0-only

/** Work that is known: three of four steps are hot()'s, one is cold()'s. */
public class Known {
    static long hot(long steps) {
        long sum = 0;
        for (long n = 0; n < steps; n++)
            sum += sum >> 3 ^ n * 3;
        return sum;
    }

    static long cold(long steps) {
        long sum = 0;
        for (long n = 0; n < steps; n++)
            sum += sum >> 3 ^ n * 5;
        return sum;
    }

    public static void main(String[] arguments) {
        long sum = 0;
        for (int n = 0; n < 6000; n++)
            sum += hot(300000) + cold(100000);
        System.out.println(sum != 0);
    }
}
